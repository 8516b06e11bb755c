import { acceptKnownSignatures } from './known-signatures.ts';

acceptKnownSignatures();
