/**
 * A mail server on loopback that misbehaves at any step of the dialog, including in ways that an SMTP server library
 * does not allow.
 *
 * It misbehaves only as told, one connection after the other; after that it accepts every mail. Nothing leaves this
 * machine.
 */
import { createServer, type Socket } from 'node:net';

export const steps = ['greeting', 'EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA', 'message'] as const;
export type Step = (typeof steps)[number] | 'STARTTLS';

/** What one connection meets; the other steps succeed. */
export type Conduct =
  | { readonly at: Step; readonly does: 'drop' | 'stall' }
  | { readonly at: Step; readonly says: string }
  | 'well';

export interface StubbornServer extends AsyncDisposable {
  readonly url: string;
  /** Everything that clients sent, by connection. */
  readonly heard: readonly string[];
  /** Complete messages that it accepted. */
  readonly taken: readonly string[];
}

const usualReplies: Readonly<Record<Step, string>> = {
  greeting: '220 mail.example.com at your service',
  EHLO: '250-mail.example.com\r\n250-AUTH PLAIN\r\n250 8BITMIME',
  STARTTLS: '502 No such thing here',
  AUTH: '235 Welcome',
  MAIL: '250 Go on',
  RCPT: '250 Go on',
  DATA: '354 Go on',
  message: '250 2.0.0 Ok: queued as 4F1D2',
};

function stepOf(line: string): Step | 'QUIT' | 'RSET' {
  const [word = ''] = line.toUpperCase().split(/[ :]/);
  return word as Step;
}

/** Talks to one client. */
function converse(
  socket: Socket,
  conduct: Conduct,
  hear: (text: string) => void,
  take: (text: string) => void,
) {
  let rest = '';
  let isInMessage = false;
  const meet = (step: Step): void => {
    const isTold = conduct !== 'well' && conduct.at === step;
    if (isTold && 'does' in conduct) {
      if (conduct.does === 'drop') socket.destroy();
      return;
    }
    const reply = isTold && 'says' in conduct ? conduct.says : usualReplies[step];
    isInMessage = step === 'DATA' && reply.startsWith('354');
    socket.write(`${reply}\r\n`);
  };
  const obey = (line: string): void => {
    const step = stepOf(line);
    if (step === 'QUIT') socket.end('221 Bye\r\n');
    else if (step === 'RSET') socket.write('250 Forgotten\r\n');
    else if (step in usualReplies) meet(step);
    else socket.write('500 What?\r\n');
  };
  const readOn = (): boolean => {
    const end = rest.indexOf(isInMessage ? '\r\n.\r\n' : '\r\n');
    if (end === -1) return false;
    const piece = rest.slice(0, end);
    rest = rest.slice(end + (isInMessage ? 5 : 2));
    if (isInMessage) {
      take(piece);
      meet('message');
    } else obey(piece);
    return true;
  };
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    hear(bytes.toString('latin1'));
    rest += bytes.toString('latin1');
    while (readOn());
  });
  meet('greeting');
}

export async function openStubbornServer(conducts: readonly Conduct[] = []): Promise<StubbornServer> {
  const heard: string[] = [];
  const taken: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const index = heard.push('') - 1;
    sockets.add(socket);
    const hear = (text: string) => {
      heard[index] += text;
    };
    converse(socket, conducts[index] ?? 'well', hear, (text) => taken.push(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    heard,
    taken,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
