/**
 * The second yardstick: what `Bun.serve` does at best on this machine. It owns nothing and keeps no promise.
 */
Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  development: false,
  fetch: () => new Response('hello world'),
});
