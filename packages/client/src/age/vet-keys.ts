// The parts of the vetKeys library that derive identities. Loaded on demand; the names let bundlers
// leave out the rest, such as identity-based encryption.

export {
  DerivedPublicKey,
  EncryptedVetKey,
  MasterPublicKey,
  MasterPublicKeyId,
  TransportSecretKey,
} from '@dfinity/vetkeys';
