/**
 * Three calls that work when pasted one after another: for curl, for the command and in TypeScript. Radio buttons and the style
 * sheet switch between them; without styles, all are shown.
 */
import type { FC } from 'hono/jsx';
import { isLoopbackUrl } from '../../core/links.ts';
import { type ApiInfo, pathOf } from '../openapi/document.ts';

/** In button order. */
const callKinds = ['curl', 'command', 'typescript'] as const;
type CallKind = (typeof callKinds)[number];

const names: Readonly<Record<CallKind, string>> = {
  curl: 'curl',
  command: 'Command',
  typescript: 'TypeScript',
};

interface FirstCall {
  readonly title: string;
  readonly text: string;
  readonly code: Readonly<Record<CallKind, string>>;
}

/** Added to the calls if sharing requires an account. */
interface Accounts {
  readonly curl: string;
  readonly command: string;
  readonly typescript: string;
}

const withAccount: Accounts = {
  curl: " \\\n  --user 'you@example.com:API_TOKEN'",
  command: 'export MAYFLY_USERNAME=you@example.com MAYFLY_TOKEN=API_TOKEN\n',
  typescript: ",\n  credentials: { username: 'you@example.com', token: 'API_TOKEN' }",
};
const withoutAccount: Accounts = { curl: '', command: '', typescript: '' };

// Constants, so that neither looks like this program's own import or output.
const packageName = '@mayfly/client';
const quotedName = `'${packageName}'`;
const print = 'console.log';

function firstCallsOf({ baseUrl, sharingNeedsAccount, revealNeedsContinue }: ApiInfo): readonly FirstCall[] {
  const account = sharingNeedsAccount ? withAccount : withoutAccount;
  const json = "--header 'Content-Type: application/json'";
  // Clients do not seal secrets over plain HTTP.
  const isSealed = baseUrl.startsWith('https:') || isLoopbackUrl(baseUrl);
  const reveal = revealNeedsContinue ? ` \\\n  ${json} \\\n  --data '{"continue":true}'` : ' --request POST';
  return [
    {
      title: 'Share',
      text: 'Prints the link to give away. It opens once, within the hour.',
      code: {
        curl:
          `key=$(curl -sS '${baseUrl}/api/v2/secret/conceal'${account.curl} \\\n  ${json} \\\n` +
          `  --data '{"secret":{"secret":"open sesame","ttl":3600}}' |\n` +
          `  sed 's/.*"secret_key":"\\([^"]*\\)".*/\\1/')\n` +
          `echo "${baseUrl}/secret/$key"`,
        command:
          `${account.command}link=$(echo 'open sesame' | mayfly share --ttl 1h${isSealed ? '' : ' --plain'} \\\n` +
          `  --server '${baseUrl}')\necho "$link"`,
        typescript:
          `import { createClient } from ${quotedName};\n\n` +
          `const mayfly = createClient({ server: '${baseUrl}'${account.typescript} });\n` +
          `const { link } = await mayfly.conceal({ value: 'open sesame', ttlSeconds: 3600${isSealed ? '' : ', plain: true'} });\n` +
          `${print}(link);`,
      },
    },
    {
      title: 'See whether it waits',
      text: 'Changes nothing and needs no passphrase. Once the secret is gone, the answer is 404.',
      code: {
        curl: `curl -sS "${baseUrl}/api/v2/secret/$key/status"`,
        command: 'mayfly status "$link"',
        typescript:
          'const waiting = await mayfly.status(link);\n' +
          `${print}(waiting === null ? 'gone' : 'it waits');`,
      },
    },
    {
      title: 'Read it',
      text: 'Answers the value and deletes the secret. A second call finds nothing.',
      code: {
        curl: `curl -sS "${baseUrl}/api/v2/secret/$key/reveal"${reveal}`,
        command: 'mayfly reveal "$link"',
        typescript: `const { value } = await mayfly.reveal(link);\n${print}(value);`,
      },
    },
  ];
}

export const FirstCalls: FC<{ info: ApiInfo }> = ({ info }) => (
  <section class="calls" aria-labelledby="first-calls">
    <h2 id="first-calls" class="large">
      Three calls
    </h2>
    <fieldset class="kinds">
      <legend class="visually-hidden">Show the calls for</legend>
      {callKinds.map((kind, at) => (
        <label class="kind">
          <input type="radio" name="calls" value={kind} id={`calls-${kind}`} checked={at === 0} />
          <span>{names[kind]}</span>
        </label>
      ))}
    </fieldset>
    <ol>
      {firstCallsOf(info).map((call, step) => (
        <li>
          <h3>{call.title}</h3>
          <p>{call.text}</p>
          {callKinds.map((kind) => (
            <Code kind={kind} code={call.code[kind]} id={`call-${kind}-${step + 1}`} />
          ))}
        </li>
      ))}
    </ol>
    {info.sharingNeedsAccount ? (
      <p>
        Sharing needs an account here: put your e-mail address and an <a href="#accounts">API token</a> in the
        place of the samples.
      </p>
    ) : null}
    <Notes info={info} />
    {/* Filled in by the copy script. */}
    <p
      class="copied"
      id="copied"
      role="status"
      data-copied="Copied."
      data-failed="The browser did not allow copying. The text is selected: copy it by hand."
    />
  </section>
);

const Code: FC<{ kind: CallKind; code: string; id: string }> = ({ kind, code, id }) => (
  <div class={`call for-${kind}`}>
    <pre>
      <code id={id}>{code}</code>
    </pre>
    <button class="quiet small" type="button" hidden data-copy={`#${id}`} data-copied="Copied">
      <span>Copy</span>
    </button>
  </div>
);

const Notes: FC<{ info: ApiInfo }> = ({ info }) => (
  <>
    <p class="hint for-curl">
      The answers are JSON: <a href="#v2-conceal">share</a>, <a href="#v2-secretstatus">status</a>,{' '}
      <a href="#v2-reveal">reveal</a>.
    </p>
    <p class="hint for-command">
      <code>mayfly</code> is the executable that <code>npm run build</code> makes; in a checkout it is{' '}
      <code>npm run -s mayfly --</code>.
    </p>
    <p class="hint for-typescript">
      <code>npm run build:sdk</code> in a checkout makes the package <code>{packageName}</code>. Pages of this
      site import the same module from <a href={pathOf(info, '/sdk/mayfly.js')}>/sdk/mayfly.js</a>.
    </p>
  </>
);
