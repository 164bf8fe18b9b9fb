/**
 * The yardstick: what `node:http` does at best on this machine. It owns nothing and keeps no promise.
 */
import { createServer } from 'node:http';

const body = 'hello world';
const headers = { 'Content-Type': 'text/plain', 'Content-Length': body.length };
createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
