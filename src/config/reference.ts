/** Generates docs/configuration.md from the table of settings. */
import type { LimitRule } from '../core/ports/limits.ts';
import type { Reader } from './definition.ts';
import { builtInRateLimits } from './json-files.ts';
import { definitionList } from './settings.ts';

const intro = `# Settings

This page is generated from the table in \`src/config/settings.ts\`; \`npm run docs\` regenerates it.

Mayfly is configured with environment variables. An empty variable counts as unset. An invalid value, or a \`MAYFLY_\`
variable that is not listed here, keeps Mayfly from starting, and a message says what to do. Mayfly ignores and logs the variables that
Kubernetes and Docker set for a service called mayfly, such as \`MAYFLY_SERVICE_HOST\` and \`MAYFLY_PORT=tcp://…\`.

\`mayfly config\` prints the settings in effect, and \`mayfly config --explain\` adds their sources; if a server would not start, it says
why and exits with 2. A *secret* setting is never printed (the store’s address is, without its password), and can be read from a file:
append \`_FILE\` to the variable’s name and set it to the path. [command.md](command.md#how-text-is-read) says how values are trimmed.
`;

function rows(...readers: readonly Reader[]): string {
  const lines = definitionList
    .filter(([, of]) => readers.includes(of.reader))
    .map(([, of]) => {
      const name = of.kind.isSecret ? `\`${of.env}\` (*secret*)` : `\`${of.env}\``;
      return `| ${name} | ${of.defaultText} | ${of.doc} | ${of.kind.allowed} |`;
    });
  return ['| variable | default | meaning | allowed |', '| --- | --- | --- | --- |', ...lines, ''].join('\n');
}

function sharedNames(): string {
  const shared = definitionList.filter(([, of]) => of.reader === 'server and router');
  return shared.map(([, of]) => `\`${of.env}\``).join(', ');
}

const routerText = `## The router

\`mayfly router\` runs in front of the regions of one installation. It reads these settings, and the server’s
${sharedNames()}.
`;

const plansText = `## Plans

\`MAYFLY_PLANS_FILE\` names a JSON file that overrides parts of the built-in plans (\`anonymous\`, \`basic\`, \`identity\`). Whatever it omits
keeps its built-in value. \`maxValueBytes\` counts bytes of UTF-8. \`maxSealedBytes\` counts those of an end-to-end secret: a text, or
a file with its name and media type. Times are in seconds. \`maxDomains\` limits an account’s share domains (0: none),
\`maxPlaces\` the answers that its open requests take, together:

\`\`\`json
{
  "anonymous": {
    "maxValueBytes": 5000,
    "maxSealedBytes": 50000,
    "ttlMinSeconds": 60,
    "ttlDefaultSeconds": 604800,
    "ttlMaxSeconds": 604800
  },
  "identity": { "maxDomains": 20, "maxPlaces": 40 }
}
\`\`\`

For moving from the existing service, \`deploy/plans.upstream.json\` has its largest values (proxies.md).
`;

/** Returns the built-in limits as JSON, one rule per line. */
function limitsTable(): string {
  const rule = ({ limit, windowSeconds, burst }: LimitRule) =>
    `{ "limit": ${limit}, "windowSeconds": ${windowSeconds}, "burst": ${burst} }`;
  const entries = Object.entries(builtInRateLimits).map(
    ([name, { anonymous, account }]) =>
      `  "${name}": {\n    "anonymous": ${rule(anonymous)},\n    "account": ${rule(account)}\n  }`,
  );
  return `{\n${entries.join(',\n')}\n}`;
}

const rateLimitsText = `## Rate limits

\`MAYFLY_RATE_LIMITS\` may name a JSON file that overrides parts of the built-in limits; whatever it omits keeps its built-in value.
This is the built-in table: \`limit\` calls per \`windowSeconds\` in the long run, with bursts of up to \`burst\`.

\`\`\`json
${limitsTable()}
\`\`\`

- \`anonymous\` counts callers without an account by network (IPv4 /24, IPv6 /56), \`account\` counts by account.
- \`create\` covers conceal and generate, \`manage\` reveal and everything else about a secret.
- \`logIn\` counts only wrong passwords and tokens; its \`account\` rule counts them by account address.
- \`mail\` limits the emails from one account to recipients, \`mailbox\` those to one address from any sender.

A file that only doubles what accounts may create:

\`\`\`json
{ "create": { "account": { "limit": 24000, "burst": 2000 } } }
\`\`\`
`;

export function renderReference(): string {
  return [
    intro,
    '## The server',
    '',
    rows('server', 'server and router'),
    plansText,
    rateLimitsText,
    routerText,
    rows('router'),
    '## The commands',
    '',
    rows('commands'),
  ].join('\n');
}
