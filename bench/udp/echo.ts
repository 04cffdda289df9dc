// A workload that sends every datagram back. Prints a line when it listens.
import dgram from 'node:dgram';

const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
socket.on('message', (datagram, { port, address }) => socket.send(datagram, port, address));
socket.bind(Number(process.argv[2]), () => console.log('ready'));
