// The canister: its actor classes. The text codec comes first, before anything encodes a text.

import './actor/native-text.ts';
import { BucketsActor } from './actor/buckets.ts';
import { HttpActor } from './actor/http.ts';
import { LifecycleActor } from './actor/lifecycle.ts';
import { UploadsActor } from './actor/uploads.ts';

export default [LifecycleActor, BucketsActor, UploadsActor, HttpActor];
