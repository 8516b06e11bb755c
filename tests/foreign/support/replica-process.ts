// Starts a replica on a folder in its own process, prints its URL and serves until it is killed.

import { writeSync } from 'node:fs';
import { startReplica } from '../../../packages/replica/src/replica.ts';

const [stateDir = ''] = process.argv.slice(2);
const { url } = await startReplica({ stateDir });
writeSync(1, `${url}\n`);
