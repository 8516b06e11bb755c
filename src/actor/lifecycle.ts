// Install and upgrade.

import { init, postUpgrade } from 'azle';
import { setUp } from './runtime.ts';

export class LifecycleActor {
  @init([])
  install(): void {
    setUp();
  }

  @postUpgrade([])
  upgrade(): void {
    setUp();
  }
}
