// A process with a replica on a folder, to be killed at any moment: prints its URL and serves.

import { writeSync } from 'node:fs';
import { startReplica } from '../../../packages/replica/src/replica.ts';

const [stateDir = ''] = process.argv.slice(2);
const { url } = await startReplica({ stateDir });
writeSync(1, `${url}\n`);
