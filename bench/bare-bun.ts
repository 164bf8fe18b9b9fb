/**
 * The second yardstick: what `Bun.serve` does at best on this machine. It owns nothing and keeps no promise. It reads the body
 * of a create, because every create has to; a page has none.
 */
const answer = () => new Response('hello world');
Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  development: false,
  fetch: (request) => (request.method === 'POST' ? request.text().then(answer) : answer()),
});
