/** A share domain's DNS records, step by step, each with a copy button. */
import type { FC } from 'hono/jsx';
import type { DomainView } from '../../core/share-domains/service.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Badge, Button, CopyButton, CopyStatus } from '../kit/parts.tsx';

interface RecordsProps {
  readonly frame: Frame;
  readonly domain: DomainView;
}

export const DomainRecords: FC<RecordsProps> = ({ frame, domain }) => {
  const { state, finding } = domain;
  const isProven = state === 'verified' || state === 'pending' || finding === 'not_pointing';
  const leadsHere = state === 'verified';
  return (
    <div class="sheet records">
      <p>{frame.say('domain.stepsLead')}</p>
      <ol>
        <li>
          <h3>{frame.say('domain.txtTitle')}</h3>
          {isProven ? <Found frame={frame} /> : null}
          <p>{frame.say('domain.txtText')}</p>
          <TxtRecord frame={frame} domain={domain} />
        </li>
        <li>
          <h3>{frame.say('domain.pointTitle')}</h3>
          {leadsHere ? <Found frame={frame} /> : null}
          {domain.subdomain === '' ? (
            <AddressRecords frame={frame} domain={domain} />
          ) : (
            <AliasRecord frame={frame} domain={domain} />
          )}
        </li>
        <li>
          <h3>{frame.say('domain.checkTitle')}</h3>
          <p>{frame.say('domain.checkText')}</p>
          <PostForm frame={frame} action={frame.href('verifyDomain', domain.name)}>
            <Button frame={frame} id="check" say="domain.check" icon="refresh" />
          </PostForm>
        </li>
      </ol>
      <CopyStatus frame={frame} failed="copy.failed" />
    </div>
  );
};

const Found: FC<{ frame: Frame }> = ({ frame }) => (
  <p>
    <Badge kind="good" icon="check">
      {frame.say('domain.found')}
    </Badge>
  </p>
);

const TxtRecord: FC<RecordsProps> = ({ frame, domain }) => {
  if (domain.txtRecord === null) return null;
  const { host, value } = domain.txtRecord;
  return <NamedRecord {...{ frame, domain, value }} type="TXT" name={host} />;
};

/** The CNAME of a subdomain, which then follows the target when it moves. */
const AliasRecord: FC<RecordsProps> = ({ frame, domain }) => (
  <>
    <p>{frame.say('domain.aliasText')}</p>
    <NamedRecord {...{ frame, domain }} type="CNAME" name={domain.name} value={domain.target.host} />
  </>
);

type NamedProps = RecordsProps & Pick<PartProps, 'type'> & { readonly name: string; readonly value: string };

const NamedRecord: FC<NamedProps> = ({ frame, domain, type, name, value }) => (
  <>
    <RecordPart {...{ frame, type }} part="name" text={name} />
    <RecordPart {...{ frame, type }} part="value" text={value} />
    <p class="hint">{frame.say('domain.shortName', { name: ltr(shortNameOf(name, domain)) })}</p>
  </>
);

/** For a registered name, which cannot have a CNAME itself (RFC 1912 §2.4). */
const AddressRecords: FC<RecordsProps> = ({ frame, domain }) => {
  const { name, target } = domain;
  if (target.addresses.length === 0)
    return <p>{frame.say('domain.addressUnknown', { domain: ltr(name), host: ltr(target.host) })}</p>;
  return (
    <>
      <p>{frame.say('domain.addressText', { domain: ltr(name) })}</p>
      {target.addresses.map((address, at) => (
        <RecordPart
          frame={frame}
          type={address.includes(':') ? 'AAAA' : 'A'}
          part="value"
          id={`address-${at + 1}`}
          text={address}
        />
      ))}
      <p class="hint">{frame.say('domain.addressAlias', { host: ltr(target.host) })}</p>
    </>
  );
};

interface PartProps {
  readonly frame: Frame;
  readonly type: 'TXT' | 'CNAME' | 'A' | 'AAAA';
  readonly part: 'name' | 'value';
  readonly id?: string;
  readonly text: string;
}

const RecordPart: FC<PartProps> = ({ frame, type, part, id = `${type.toLowerCase()}-${part}`, text }) => (
  <div class="field">
    <label for={id} id={`${id}-label`}>
      {frame.say(part === 'name' ? 'domain.recordName' : 'domain.recordValue', { type })}
    </label>
    <div class="welded">
      {/* Wraps instead of scrolling, because the whole text must be visible. */}
      <textarea id={id} class="link code" rows={1} readonly spellcheck={false} autocomplete="off">
        {`\n${text}`}
      </textarea>
      <CopyButton
        {...{ frame, target: id }}
        id={`${id}-copy`}
        class="quiet"
        aria-labelledby={`${id}-copy ${id}-label`}
      />
    </div>
  </div>
);

/** Shortens a name for DNS panels that append the registered name. */
function shortNameOf(host: string, { baseDomain }: DomainView): string {
  const end = `.${baseDomain}`;
  return host.endsWith(end) ? host.slice(0, -end.length) : host;
}

/** Keeps a name in left-to-right order within right-to-left text. */
function ltr(text: string): string {
  return `\u2066${text}\u2069`;
}
