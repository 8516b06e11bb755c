// Starts the verifier's thread, which is TypeScript, without a build.

import { register } from 'tsx/esm/api';

register();
await import('./verifier-thread.ts');
