// The canister: its actor classes. The text codec must be installed before anything encodes a text.

import './actor/runtime/native-text.ts';
import { ApiDocActor } from './actor/methods/api-doc.ts';
import { ApiKeysActor } from './actor/methods/api-keys.ts';
import { BucketsActor } from './actor/methods/buckets.ts';
import { CopiesActor } from './actor/methods/copies.ts';
import { EndToEndActor } from './actor/methods/end-to-end.ts';
import { FileBatchesActor } from './actor/methods/file-batches.ts';
import { FilesActor } from './actor/methods/files.ts';
import { HttpActor } from './actor/methods/http.ts';
import { InspectActor } from './actor/methods/inspect.ts';
import { JournalActor } from './actor/methods/journal.ts';
import { LifecycleActor } from './actor/methods/lifecycle.ts';
import { LinksActor } from './actor/methods/links.ts';
import { ListingActor } from './actor/methods/listing.ts';
import { RetentionActor } from './actor/methods/retention.ts';
import { RotationActor } from './actor/methods/rotation.ts';
import { RulesActor } from './actor/methods/rules.ts';
import { ServiceActor } from './actor/methods/service.ts';
import { StatusActor } from './actor/methods/status.ts';
import { StreamingActor } from './actor/methods/streaming.ts';
import { SubscriptionsActor } from './actor/methods/subscriptions.ts';
import { ThumbnailsActor } from './actor/methods/thumbnails.ts';
import { TopUpActor } from './actor/methods/top-ups.ts';
import { UploadLinksActor } from './actor/methods/upload-links.ts';
import { UploadsActor } from './actor/methods/uploads.ts';
import { VersionsActor } from './actor/methods/versions.ts';
import { WellKnownActor } from './actor/methods/well-known.ts';

export default [
  LifecycleActor,
  BucketsActor,
  UploadsActor,
  FilesActor,
  CopiesActor,
  VersionsActor,
  RetentionActor,
  ThumbnailsActor,
  LinksActor,
  UploadLinksActor,
  FileBatchesActor,
  ListingActor,
  ApiKeysActor,
  EndToEndActor,
  RulesActor,
  RotationActor,
  WellKnownActor,
  ServiceActor,
  TopUpActor,
  JournalActor,
  SubscriptionsActor,
  ApiDocActor,
  StatusActor,
  HttpActor,
  StreamingActor,
  InspectActor,
];
