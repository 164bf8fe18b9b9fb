/**
 * The client's interfaces against the API's schemas, by the compiler: this file does not compile when a field that the client reads or
 * sends is renamed, changes its type or may be null, when a closed set of words grows, or when the API has a field that nobody has
 * decided about.
 */
import type { z } from 'zod';
import type { WireAnswer, WireAnswers, WireLook, WireRequest } from '../../sdk/asking.ts';
import type { creationFields, generationFields } from '../../sdk/creation.ts';
import type { serverCodes } from '../../sdk/error.ts';
import type { WireCodeMail, WireDelivery, WireLock, WireReceipt } from '../../sdk/receipt.ts';
import type {
  WireAccount,
  WireBatch,
  WireChange,
  WireCreation,
  WireGeneration,
  WireLocales,
  WireOpenedSecret,
  WireRecent,
  WireSealedSecret,
  WireSecret,
  WireServiceStatus,
  WireVersion,
} from '../../sdk/records.ts';
import type { drawRequest } from '../../sdk/request.ts';
import type { SealedSecret } from '../../sdk/sealing.ts';
import type { WireNote, WireSentCode } from '../../sdk/sharing.ts';
import type { WireBrand, WireBrandChanges, WireDomainAnswer, WireDomains } from '../../sdk/wire.ts';
import type * as batches from '../../src/api/v2/batch.ts';
import type * as creation from '../../src/api/v2/creation.ts';
import type * as fields from '../../src/api/v2/creation-fields.ts';
import type * as domains from '../../src/api/v2/domain-records.ts';
import type * as receipts from '../../src/api/v2/receipts.ts';
import type * as records from '../../src/api/v2/records.ts';
import type { RefusalCode } from '../../src/api/v2/refusals.ts';
import type * as requests from '../../src/api/v2/request-records.ts';
import type * as reveals from '../../src/api/v2/reveal.ts';
import type * as sealed from '../../src/api/v2/sealed.ts';
import type * as secrets from '../../src/api/v2/secrets.ts';
import type * as service from '../../src/api/v2/service.ts';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type AllTrue<Checks extends readonly true[]> = Checks;
/** Every answer of the schema is what the client expects. */
type Fits<Answer extends Wire, Wire> = Same<Answer, Answer>;
/** Fields of the answer that the client does not read. */
type LeftOut<Answer, Wire> = Exclude<keyof Answer, keyof Wire>;
type Writable<T> = T extends readonly (infer Item)[] ? Item[] : T;
/** A request as the client sends it, with lists as JSON has them. */
type Sent<Fields> = { -readonly [Field in keyof Fields]: Writable<Exclude<Fields[Field], undefined>> };
/** All fields that the schema takes are sent, with values that it takes. */
type Takes<Schema extends z.ZodType, Fields extends Partial<z.input<Schema>>> = Same<
  keyof z.input<Schema>,
  keyof Fields
>;

type WireRecord<Record> = Readonly<{ record: Record }>;
type WireUnknownSecret = Readonly<{ state: 'unknown' }>;
type WireStatuses = Readonly<{ records: readonly (WireSecret | WireUnknownSecret)[] }>;

type MetadataRecord = z.output<typeof records.metadataRecord>;
type SecretRecord = z.output<typeof records.secretRecord>;
type DomainAnswer = z.output<typeof domains.domainAnswer>;
type AnswersAnswer = z.output<typeof requests.answersAnswer>;
type LookRecord = z.output<typeof requests.lookAnswer>['record'];

export type Answers = AllTrue<
  [
    Fits<z.output<typeof creation.concealAnswer>, WireCreation>,
    Fits<z.output<typeof creation.generateAnswer>, WireGeneration>,
    Fits<z.output<typeof batches.batchAnswer>, WireBatch>,
    Fits<z.output<typeof receipts.metadataAnswer>, WireRecord<WireReceipt>>,
    Fits<z.output<typeof receipts.burnAnswer>, WireRecord<WireReceipt>>,
    Fits<z.output<typeof receipts.changeAnswer>, WireChange>,
    Fits<z.output<typeof receipts.deliverAnswer>, WireChange>,
    Fits<z.output<typeof receipts.recentAnswer>, WireRecent>,
    Fits<z.output<typeof secrets.inspectAnswer>, WireRecord<WireSecret>>,
    Fits<z.output<typeof secrets.statusAnswer>, WireRecord<WireSecret>>,
    Fits<z.output<typeof secrets.unknownStatusAnswer>, WireRecord<WireUnknownSecret>>,
    Fits<z.output<typeof secrets.statusesAnswer>, WireStatuses>,
    Fits<z.output<typeof secrets.noteAnswer>, WireRecord<WireNote>>,
    Fits<z.output<typeof reveals.revealAnswer>, WireRecord<WireOpenedSecret>>,
    Fits<z.output<typeof reveals.sealedRevealAnswer>, WireRecord<WireSealedSecret>>,
    Fits<z.output<typeof secrets.codeAnswer>, WireRecord<WireSentCode>>,
    Fits<z.output<typeof requests.askAnswer>, WireRecord<WireRequest>>,
    Fits<z.output<typeof requests.closedAnswer>, WireRecord<WireRequest>>,
    Fits<z.output<typeof requests.lookAnswer>, WireRecord<WireLook>>,
    Fits<z.output<typeof requests.answerAnswer>, WireRecord<Pick<WireAnswer, 'secret_key'>>>,
    Fits<AnswersAnswer, WireAnswers>,
    Fits<z.output<typeof service.serviceStatusAnswer>, WireServiceStatus>,
    Fits<z.output<typeof service.versionAnswer>, WireVersion>,
    Fits<z.output<typeof service.localesAnswer>, WireLocales>,
    Fits<z.output<typeof service.authcheckAnswer>, WireRecord<WireAccount>>,
    Fits<DomainAnswer, WireDomainAnswer>,
    Fits<z.output<typeof domains.domainsAnswer>, WireDomains>,
    Fits<z.output<typeof domains.brandAnswer>, WireRecord<WireBrand>>,
  ]
>;

export type ClosedSets = AllTrue<
  [
    Same<MetadataRecord['state'], WireReceipt['state']>,
    Same<MetadataRecord['burned_by'], WireReceipt['burned_by']>,
    Same<MetadataRecord['notify'][number], WireReceipt['notify'][number]>,
    Same<NonNullable<MetadataRecord['delivery']>['state'], WireDelivery['state']>,
    Same<NonNullable<MetadataRecord['locked']>['by'], WireLock['by']>,
    Same<SecretRecord['state'], 'new' | 'received'>,
    Same<DomainAnswer['record']['state'], WireDomainAnswer['record']['state']>,
    Same<AnswersAnswer['record']['state'], WireRequest['state']>,
    Same<AnswersAnswer['records'][number]['state'], WireAnswer['state']>,
    Same<(typeof serverCodes)[number], RefusalCode>,
  ]
>;

/** The second names of fields that are read, and what follows from other fields. */
type Doubled =
  | `${'identifier' | 'secret_identifier' | 'receipt_ttl' | 'revealed' | 'previewed' | 'updated' | 'custid'}`
  | `is_${string}`
  | `${string}short${'key' | 'id'}`
  | `${'share' | 'burn' | 'metadata' | 'receipt'}_path`
  | `${'burn' | 'metadata' | 'receipt'}_url`;

export type Decided = AllTrue<
  [
    Same<
      Exclude<LeftOut<MetadataRecord, WireReceipt>, Doubled>,
      | 'lifespan'
      | 'secret_state'
      | 'shared'
      | 'viewed'
      | 'show_recipients'
      | 'natural_expiration'
      | 'expiration'
      | 'expiration_in_seconds'
    >,
    Same<
      Exclude<
        LeftOut<SecretRecord, WireSecret & WireCreation['record']['secret'] & { state: string }>,
        Doubled
      >,
      'share_domain' | 'verification'
    >,
    Same<LeftOut<NonNullable<MetadataRecord['delivery']>, WireDelivery>, never>,
    Same<LeftOut<NonNullable<MetadataRecord['codes']>[number], WireCodeMail>, never>,
    Same<LeftOut<NonNullable<MetadataRecord['locked']>, WireLock>, never>,
    Same<
      LeftOut<z.output<typeof creation.concealAnswer>['details'], WireCreation['details']>,
      'kind' | 'recipient' | 'recipient_safe'
    >,
    Same<
      LeftOut<DomainAnswer['record'], WireDomainAnswer['record']>,
      | 'identifier'
      | 'domainid'
      | 'custid'
      | 'base_domain'
      | 'subdomain'
      | 'trd'
      | 'sld'
      | 'tld'
      | 'is_apex'
      | 'status'
      | 'verified'
    >,
    Same<LeftOut<DomainAnswer['record']['brand'], WireBrand>, 'allow_public_api'>,
    Same<
      LeftOut<AnswersAnswer['record'], WireRequest>,
      'identifier' | 'updated' | 'lifespan' | 'answer_ttl' | 'notify' | 'share_domain'
    >,
    // A link's own key counts.
    Same<LeftOut<LookRecord, WireLook>, 'identifier' | 'key' | 'share_domain'>,
    Same<LeftOut<AnswersAnswer['records'][number], WireAnswer>, never>,
  ]
>;

export type Requests = AllTrue<
  [
    Takes<typeof fields.concealFields, Sent<ReturnType<typeof creationFields> & { readonly secret: string }>>,
    Same<z.input<typeof sealed.sealedFields>, SealedSecret>,
    // The server refuses an address for codes where it draws the value.
    Takes<
      typeof fields.generateFields,
      Sent<Omit<ReturnType<typeof generationFields>, 'verify'> & { readonly verify: '' }>
    >,
    Takes<
      typeof reveals.revealBody,
      { continue: true; passphrase: string; link_proof: string; proof: string; look: string; code: string }
    >,
    Takes<typeof secrets.codeBody, { look: string; link_proof: string; locale: string }>,
    Takes<typeof reveals.revealDoneBody, { look: string }>,
    Takes<
      typeof reveals.burnUnreadBody,
      { continue: true; passphrase: string; link_proof: string; proof: string; look: string; code: string }
    >,
    Takes<typeof secrets.statusesBody, { identifiers: string }>,
    Takes<typeof secrets.noteBody, { link_proof: string }>,
    Takes<typeof receipts.burnBody, { continue: true }>,
    Takes<typeof receipts.changeBody, { memo: string; ttl: number; attempts: 'more'; codes: 'more' }>,
    Takes<typeof receipts.deliverBody, { recipient: string; locale: string }>,
    Takes<
      typeof requests.askBody,
      Awaited<ReturnType<typeof drawRequest>>['sent'] & {
        answers: number;
        ttl: number;
        answer_ttl: number;
        notify: boolean;
        share_domain: string;
      }
    >,
    Takes<typeof requests.lookBody, { ask: string }>,
    Takes<
      typeof requests.answerBody,
      { ask: string; sealed: SealedSecret & { passphrase: false }; wrapped: string }
    >,
    Takes<typeof requests.ownerBody, { owner: string }>,
    Takes<typeof requests.changeRequestBody, { owner: string; close: true; ttl: number; answers: number }>,
    Takes<typeof requests.discardBody, { owner: string; secret_key: string }>,
    Takes<typeof domains.addBody, { domain: string }>,
    // `allow_public_api` is another name of `allow_public_homepage`.
    Takes<typeof domains.brandFields, Sent<WireBrandChanges> & { allow_public_api?: boolean }>,
  ]
>;

// Self-tests: each of these has a defect, which the checks above would otherwise let pass.

type Changed<Answer, Field extends keyof Answer, Now> = Omit<Answer, Field> & Record<Field, Now>;
type FitsNot<Answer, Wire> = [Answer] extends [Wire] ? false : true;
type Differs<A, B> = Same<A, B> extends true ? false : true;
type TakesNot<Schema extends z.ZodType, Fields> = [Fields] extends [Partial<z.input<Schema>>]
  ? Differs<keyof z.input<Schema>, keyof Fields>
  : true;

export type SelfTests = AllTrue<
  [
    // A field was renamed, may be null, has another type, another word, another form.
    FitsNot<Omit<MetadataRecord, 'memo'> & { label: string }, WireReceipt>,
    FitsNot<Changed<MetadataRecord, 'memo', string | null>, WireReceipt>,
    FitsNot<Changed<MetadataRecord, 'created', string>, WireReceipt>,
    FitsNot<Changed<MetadataRecord, 'state', MetadataRecord['state'] | 'lost'>, WireReceipt>,
    FitsNot<Changed<MetadataRecord, 'recipients', number>, WireReceipt>,
    // A word is gone, a field was added.
    Differs<Exclude<MetadataRecord['state'], 'viewed'>, WireReceipt['state']>,
    Differs<LeftOut<MetadataRecord & { colour: string }, MetadataRecord>, never>,
    // A field of a request has another name or type, or is one too many.
    TakesNot<typeof receipts.changeBody, { label: string; ttl: number }>,
    TakesNot<typeof receipts.deliverBody, { recipient: number; locale: string }>,
    TakesNot<typeof receipts.burnBody, { continue: true; passphrase: string }>,
  ]
>;

/** The names of the fields whose values are of this kind. */
type FieldsOf<Wire, Kind> = {
  [Field in keyof Wire]: Wire[Field] extends Kind ? Field : never;
}[keyof Wire];

/** What the kinds of fields take: nothing that may be null as a text, and no number. */
export type Readers = AllTrue<
  [
    Same<FieldsOf<WireReceipt, string>, 'key' | 'state' | 'burned_by' | 'share_domain' | 'memo'>,
    Same<FieldsOf<WireReceipt, number>, 'secret_ttl' | 'metadata_ttl' | 'created'>,
  ]
>;
