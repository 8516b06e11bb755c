// Actor methods that rotate keys. Timers do the work; getStatus() shows when it is done.

import { IDL } from '@dfinity/candid';
import { rotateBucketKey, rotateRootKey } from '../../domain/administration/key-rotation.ts';
import { RootKeySource } from '../candid/service.ts';
import { ResultNull } from '../candid/types.ts';
import { update } from '../dispatch/method.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { deployedProxy } from '../runtime/deployment.ts';
import { rootKeys, startRecordWork, startReseed, stores } from '../runtime/runtime.ts';
import { type RootKeyArgument, rootKeySource } from './lifecycle.ts';

/** Key rotation: timers do the work; getStatus shows when it is done. */
export class RotationActor {
  /** (bucketId) Creates a bucket key, which from now on wraps the files' keys. For owners. */
  @update([IDL.Text], ResultNull)
  rotateBucketKey(bucketId: string) {
    return answer(() => {
      rotateBucketKey(stores, currentCall(), bucketId);
      startReseed();
      startRecordWork();
      return null;
    });
  }

  /** (source) Creates a new root key, by default from the present source. For controllers. */
  @update([IDL.Opt(RootKeySource)], ResultNull)
  rotateRootKey([source]: [] | [RootKeyArgument]) {
    return answer(() => {
      const wanted = source && rootKeySource(source);
      rotateRootKey(stores, currentCall(), wanted, deployedProxy());
      rootKeys.start();
      startRecordWork();
      return null;
    });
  }
}
