// Moves large files within the mirror, as the source has moved them, instead of storing them again.

import { smallFileBytesMax } from '../../../client/src/uploads/upload-all.ts';
import { type PathStates, type Side, stateAt, statesOf } from './bucket-states.ts';
import { attemptAt, type ChangedStates, type MirrorJob } from './mirror-job.ts';

/** Returns the target's states after the moves. */
export async function moveLarge(
  job: MirrorJob,
  target: Side,
  { changes, here, there }: ChangedStates,
): Promise<PathStates> {
  const { storage, bucket, signal } = target;
  const states = new Map(there);
  for (const { kind, path, formerPath } of changes.entries) {
    if (kind !== 'file.moved' || path === undefined || formerPath === undefined) continue;
    const wanted = stateAt(here, path).present;
    const isThere = stateAt(states, path).present?.etag === wanted?.etag;
    const isMovable = stateAt(states, formerPath).present?.etag === wanted?.etag;
    const isLeft = stateAt(here, formerPath).present?.etag !== wanted?.etag;
    if (wanted === undefined || wanted.size <= smallFileBytesMax) continue;
    if (isThere || !isMovable || !isLeft) continue;
    await attemptAt(job, path, () =>
      storage.move({ bucket, path: formerPath }, { path }, { signal }).then(() => {}),
    );
    const moved = await statesOf(target, [path, formerPath], { concurrency: 2 });
    for (const [name, state] of moved) states.set(name, state);
  }
  return states;
}
