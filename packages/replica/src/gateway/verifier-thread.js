// Starts the verifier's thread, which is TypeScript and needs no build.

import { register } from 'tsx/esm/api';

register();
await import('./verifier-thread.ts');
