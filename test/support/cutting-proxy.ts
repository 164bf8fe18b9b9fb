/** Passes everything on, and cuts the connection in place of an answer to a chosen request: the server has done its part by then. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy extends AsyncDisposable {
  readonly origin: string;
  /** The next answers to requests whose first line matches are lost. */
  cut(request: RegExp, answers: number): void;
}

export async function openCuttingProxy(port: number): Promise<CuttingProxy> {
  let cutting = { request: /^$/, answers: 0 };
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    let isChosen = false;
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
        sockets.delete(socket);
      });
    }
    client.on('data', (bytes) => {
      const [line = ''] = bytes.toString('latin1').split('\r\n');
      if (/ HTTP\/1\.1$/.test(line)) isChosen = cutting.request.test(line);
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!isChosen || cutting.answers === 0) return void client.write(bytes);
      cutting.answers -= 1;
      client.destroy();
    });
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut(request, answers) {
      cutting = { request, answers };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
