#!/opt/platform/bin/node
// A FAKE of Firecracker for tests: its command line, its API socket as its OpenAPI document describes it (1.x), and
// the order that it wants. What it then boots is QEMU, as the machine that the requests have described. It shows that
// our requests are right by that document; it shows nothing about Firecracker itself or about KVM.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const http = process.getBuiltinModule('node:http');
const BODIES = {
  '/machine-config': {
    required: { vcpu_count: 'integer', mem_size_mib: 'integer' },
    optional: { smt: 'boolean', track_dirty_pages: 'boolean', cpu_template: 'string', huge_pages: 'string' },
  },
  '/boot-source': {
    required: { kernel_image_path: 'string' },
    optional: { initrd_path: 'string', boot_args: 'string' },
  },
  '/drives': {
    required: { drive_id: 'string', is_root_device: 'boolean' },
    optional: {
      path_on_host: 'string',
      is_read_only: 'boolean',
      cache_type: 'string',
      io_engine: 'string',
      partuuid: 'string',
    },
  },
  '/network-interfaces': {
    required: { iface_id: 'string', host_dev_name: 'string' },
    optional: { guest_mac: 'string' },
  },
  '/actions': { required: { action_type: 'string' }, optional: {} },
};
const CHOICES = {
  cache_type: ['Unsafe', 'Writeback'],
  io_engine: ['Sync', 'Async'],
  action_type: ['FlushMetrics', 'InstanceStart', 'SendCtrlAltDel'],
};
const LARGEST_BODY = 51_200;

/** Everything that may be set once the machine runs is set before. */
export function createFake({ start }) {
  const machine = { drives: new Map(), interfaces: new Map(), state: 'Not started' };
  const server = http.createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const { status, body } = answer(machine, req, text, start);
    res.writeHead(status, { server: 'Firecracker API', 'content-type': 'application/json' });
    res.end(body === undefined ? undefined : JSON.stringify(body));
  });
  return { server, machine };
}

function answer(machine, req, text, start) {
  if (req.method === 'GET' && req.url === '/') {
    return {
      status: 200,
      body: { id: 'workload', state: machine.state, vmm_version: '1.0.0-fake', app_name: 'Firecracker' },
    };
  }
  if (req.method !== 'PUT') return fault(`Invalid request method and/or path: ${req.method} ${req.url}`);
  const [, name = '', id] = req.url.split('/');
  const shape = BODIES[`/${name}`];
  if (shape === undefined) return fault(`Invalid request method and/or path: PUT ${req.url}`);
  if (text.length > LARGEST_BODY || Number(req.headers['content-length']) !== Buffer.byteLength(text)) {
    return fault('The request has no content-length that fits.');
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fault(`An error occurred when deserializing the json body of a request: ${error.message}.`);
  }
  const wrong = misshapen(value, shape);
  if (wrong !== undefined) return fault(`An error occurred when deserializing the json body of a request: ${wrong}.`);
  if (machine.state !== 'Not started')
    return fault('The requested operation is not supported after starting the microVM.');
  return carryOut(machine, { name, id, value }, start);
}

function misshapen(value, { required, optional }) {
  const known = { ...required, ...optional };
  for (const member of Object.keys(required)) if (!(member in value)) return `missing field \`${member}\``;
  for (const [member, given] of Object.entries(value)) {
    const type = known[member];
    if (type === undefined) return `unknown field \`${member}\``;
    const right = type === 'integer' ? Number.isInteger(given) : typeof given === type;
    if (!right) return `invalid type of \`${member}\``;
    if (CHOICES[member] !== undefined && !CHOICES[member].includes(given)) return `unknown variant \`${given}\``;
  }
  return undefined;
}

function carryOut(machine, { name, id, value }, start) {
  const done = { status: 204 };
  switch (name) {
    case 'machine-config':
      if (value.vcpu_count < 1 || value.vcpu_count > 32) return fault('The vCPU number is invalid!');
      if (value.smt === true && value.vcpu_count > 1 && value.vcpu_count % 2 === 1)
        return fault('The vCPU number is invalid!');
      if (value.mem_size_mib < 1) return fault('The memory size (MiB) is invalid.');
      machine.config = value;
      return done;
    case 'boot-source':
      for (const path of [value.kernel_image_path, value.initrd_path ?? value.kernel_image_path]) {
        if (!existsSync(path)) return fault(`The kernel or initrd file cannot be opened: ${path}`);
      }
      machine.boot = value;
      return done;
    case 'drives':
      if (id !== value.drive_id) return fault('The id from the path does not match the id from the body!');
      if (value.path_on_host === undefined || value.is_read_only === undefined) return fault('Invalid drive.');
      if (!existsSync(value.path_on_host))
        return fault(`Unable to open the block device backing file: ${value.path_on_host}`);
      machine.drives.set(id, value);
      return done;
    case 'network-interfaces':
      if (id !== value.iface_id) return fault('The id from the path does not match the id from the body!');
      machine.interfaces.set(id, value);
      return done;
    default:
      if (value.action_type !== 'InstanceStart')
        return fault('The requested operation is not supported before starting the microVM.');
      if (machine.boot === undefined) return fault('Cannot start microvm without kernel configuration.');
      machine.state = 'Running';
      start(machine);
      return done;
  }
}

function fault(message) {
  return { status: 400, body: { fault_message: message } };
}

/** What the requests described, run by QEMU with an emulated processor. */
function bootWithQemu({ config, boot, drives, interfaces }) {
  const megahertz = /^cpu MHz\s*:\s*([\d.]+)$/m.exec(readFileSync('/proc/cpuinfo', 'latin1'))?.[1] ?? '2000';
  const emulated = `tsc_early_khz=${Math.round(Number(megahertz) * 1_000)} mitigations=off`;
  const devices = [
    ...[...drives.values()].flatMap((drive) => [
      '-drive',
      `if=none,id=${drive.drive_id},format=raw,file=${drive.path_on_host},readonly=${drive.is_read_only ? 'on' : 'off'}`,
      '-device',
      `virtio-blk-device,drive=${drive.drive_id}`,
    ]),
    ...[...interfaces.values()].flatMap((one) => [
      '-netdev',
      `tap,id=${one.iface_id},ifname=${one.host_dev_name},script=no,downscript=no,vhost=off`,
      '-device',
      `virtio-net-device,netdev=${one.iface_id},mac=${one.guest_mac}`,
    ]),
  ];
  const child = spawn(
    'qemu-system-x86_64',
    [
      ...['-no-user-config', '-nodefaults', '-no-reboot', '-display', 'none', '-serial', 'stdio'],
      ...['-machine', 'microvm,acpi=on,isa-serial=on,rtc=on,pit=off,pic=off'],
      ...['-accel', 'tcg,thread=multi,tb-size=64', '-cpu', 'Nehalem-v1,+rdrand'],
      ...['-smp', String(config.vcpu_count), '-m', `${config.mem_size_mib}M`],
      ...['-kernel', boot.kernel_image_path, '-initrd', boot.initrd_path],
      // QEMU has no keyboard controller to reboot through.
      ...['-append', `${boot.boot_args.replace('reboot=k', 'reboot=t')} ${emulated}`],
      ...devices,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], env: { PATH: '/usr/bin:/bin' } },
  );
  child.once('exit', (code) => process.exit(code ?? 1));
}

// Run as a program, not imported by a test.
const socket = process.argv[process.argv.indexOf('--api-sock') + 1];
if (process.argv.includes('--api-sock')) createFake({ start: bootWithQemu }).server.listen(socket);
