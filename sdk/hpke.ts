/** HPKE (RFC 9180) for one message: mode base, X25519, HKDF-SHA256, AES-256-GCM. Bundled with the package that does it over WebCrypto. */
import {
  AEAD_AES_256_GCM,
  CipherSuite,
  KDF_HKDF_SHA256,
  KEM_DHKEM_X25519_HKDF_SHA256,
  NotSupportedError,
} from 'hpke';

const suite = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_256_GCM);
const encBytes = 32;

type Message = Readonly<{ aad: Uint8Array; info: Uint8Array }>;
export type KeyPair = Awaited<ReturnType<typeof suite.DeriveKeyPair>>;

/** RFC 9180 §7.1.3. The private key cannot be exported. */
export async function deriveKeyPair(seed: Uint8Array): Promise<{ keys: KeyPair; publicKey: Uint8Array }> {
  const keys = await suite.DeriveKeyPair(seed);
  return { keys, publicKey: await suite.SerializePublicKey(keys.publicKey) };
}

/** Returns the encapsulated key and the ciphertext. */
export async function sealTo(publicKey: Uint8Array, text: Uint8Array, message: Message) {
  const sealed = await suite.Seal(await suite.DeserializePublicKey(publicKey), text, message);
  return [sealed.encapsulatedSecret, sealed.ciphertext];
}

/** @throws if the message was sealed for another key, or differs in any way */
export function openWith(keys: KeyPair, sealed: Uint8Array, message: Message): Promise<Uint8Array> {
  return suite.Open(keys, sealed.subarray(0, encBytes), sealed.subarray(encBytes), message);
}

/** Whether the runtime lacks X25519. */
export const isUnsupported = (error: unknown): boolean => error instanceof NotSupportedError;
