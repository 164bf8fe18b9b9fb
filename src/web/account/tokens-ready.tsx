/**
 * A new API token, this once.
 *
 * Owns: the page. Invariants: the token stands in this page alone; the command that tries it does not hold it, so that it
 * is kept in no shell's history.
 */
import type { FC } from 'hono/jsx';
import type { NewTokenOutcome } from '../../core/accounts/tokens.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { CopyButton, CopyStatus } from '../kit/parts.tsx';

export interface TokenReadyProps {
  readonly frame: Frame;
  readonly made: Extract<NewTokenOutcome, { outcome: 'created' }>;
  readonly username: string;
  /** Of this installation, without a trailing slash. */
  readonly baseUrl: string;
}

export const TokenReadyPage: FC<TokenReadyProps> = ({ frame, made, username, baseUrl }) => {
  const { say } = frame.words;
  const path = made.stored.scopes.includes('read-recent') ? '/api/v2/private/recent' : '/api/v2/authcheck';
  return (
    <Page frame={frame} title={say('tokens.readyTitle')} scripts={['copy']}>
      <h1>{say('tokens.readyTitle')}</h1>
      <p class="lead">{say('tokens.readyLead')}</p>
      <div class="sheet">
        <div class="field">
          <label for="token">{say('tokens.readyLabel')}</label>
          <textarea id="token" class="link code" readonly rows={2} spellcheck={false} autocomplete="off">
            {`\n${made.token.expose()}`}
          </textarea>
        </div>
        <CopyButton target="token" label={say('tokens.copy')} />
        <CopyStatus copied={say('tokens.copied')} failed={say('tokens.notCopied')} />
      </div>
      <h2>{say('tokens.tryTitle')}</h2>
      <p>{say('tokens.tryLead')}</p>
      <pre class="command" dir="ltr">
        <code>{`curl --user ${shellWord(username)} ${baseUrl}${path}`}</code>
      </pre>
      <p>
        <a href={frame.href('tokens')}>{say('tokens.back')}</a>
      </p>
    </Page>
  );
};

/** As one word of a POSIX shell: an address may hold what a shell would act on. */
function shellWord(text: string): string {
  return /^[a-z0-9@._+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
