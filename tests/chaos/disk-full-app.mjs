// A backend that fills whatever it can write to: its volume, its temporary folder and its log. `/count` is what an honest
// one does: it counts in its volume.
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';

const volume = process.env.PLATFORM_VOLUME_DIR;
const block = Buffer.alloc(4 * 1024 * 1024, 1);

function fill(folder) {
  let number = 0;
  const more = () => {
    try {
      fs.appendFileSync(`${folder}/fill-${Math.floor(number / 64)}`, block);
      number += 1;
      setImmediate(more);
    } catch {
      setTimeout(more, 50);
    }
  };
  more();
}

http
  .createServer((request, response) => {
    if (request.url === '/fill') {
      fill(volume);
      fill(os.tmpdir());
      setInterval(() => console.log('x'.repeat(4_000)), 1);
    }
    if (request.url === '/count') {
      const file = `${volume}/count`;
      const count = (fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0) + 1;
      fs.writeFileSync(`${file}.new`, String(count), { flush: true });
      fs.renameSync(`${file}.new`, file);
      return response.end(String(count));
    }
    response.end('filling');
  })
  .listen(Number(process.env.PORT));
