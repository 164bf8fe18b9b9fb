/** The wire form of Yopass and of ots, as far as a benchmark uses it: `--port N` or `--listen ADDRESS:N`. */
const words = process.argv.slice(2);
const after = (name: string) => words[words.indexOf(name) + 1] ?? '';
const kept = new Map<string, string>();
const port = words.includes('--listen') ? after('--listen').split(':')[1] : after('--port');

async function keep(request: Request, field: 'message' | 'secret'): Promise<string> {
  const id = crypto.randomUUID();
  kept.set(id, ((await request.json()) as Record<string, string>)[field] ?? '');
  return id;
}

function take(id: string | undefined): string {
  const value = kept.get(id ?? '') ?? '';
  kept.delete(id ?? '');
  return value;
}

Bun.serve({
  port: Number(port),
  hostname: '127.0.0.1',
  routes: {
    '/ready': () => Response.json({ status: 'ready' }),
    '/create/secret': async (request) => Response.json({ message: await keep(request, 'message') }),
    '/secret/:id': (request) => Response.json({ message: take(request.params.id), one_time: true }),
    '/api/healthz': () => new Response(),
    '/api/create': async (request) =>
      Response.json({ success: true, secret_id: await keep(request, 'secret') }, { status: 201 }),
    '/api/get/:id': (request) => Response.json({ success: true, secret: take(request.params.id) }),
  },
});
