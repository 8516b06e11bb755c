// The canister: its actor classes. The text codec comes first, before anything encodes a text.

import './actor/native-text.ts';
import { ApiKeysActor } from './actor/api-keys.ts';
import { BucketsActor } from './actor/buckets.ts';
import { CopiesActor } from './actor/copies.ts';
import { EndToEndActor } from './actor/end-to-end.ts';
import { FileBatchesActor } from './actor/file-batches.ts';
import { FilesActor } from './actor/files.ts';
import { HttpActor } from './actor/http.ts';
import { InspectActor } from './actor/inspect.ts';
import { LifecycleActor } from './actor/lifecycle.ts';
import { LinksActor } from './actor/links.ts';
import { ListingActor } from './actor/listing.ts';
import { RotationActor } from './actor/rotation.ts';
import { StatusActor } from './actor/status.ts';
import { StreamingActor } from './actor/streaming.ts';
import { UploadsActor } from './actor/uploads.ts';
import { VersionsActor } from './actor/versions.ts';
import { WellKnownActor } from './actor/well-known.ts';

export default [
  LifecycleActor,
  BucketsActor,
  UploadsActor,
  FilesActor,
  CopiesActor,
  VersionsActor,
  LinksActor,
  FileBatchesActor,
  ListingActor,
  ApiKeysActor,
  EndToEndActor,
  RotationActor,
  WellKnownActor,
  StatusActor,
  HttpActor,
  StreamingActor,
  InspectActor,
];
