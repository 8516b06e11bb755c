// Judges a view on a phone and a desktop, in light and dark. `npm run screenshots` keeps pictures.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { projectDir } from '../../tidy/source-tree.ts';
import type { Visit } from './browser.ts';
import { accessFaults, schemes, sizes } from './console.ts';
import { layoutFaults } from './layout.ts';

const pictureDir = join(projectDir, 'docs', 'pictures');
const isWriting = process.env.EFS_WRITE === '1';

/** Fails if axe-core or the layout finds a fault, or if the page has reported one. */
export async function checkView({ page, faults }: Visit, name: string): Promise<void> {
  const found: string[] = [];
  for (const size of sizes) {
    await page.setViewportSize(size);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      const place = `${name} ${size.width} ${colorScheme}`;
      const told = [...(await accessFaults(page)), ...(await layoutFaults(page))];
      found.push(...told.map((fault) => `${place}: ${fault}`));
      if (!isWriting) continue;
      await mkdir(pictureDir, { recursive: true });
      const file = `console-${name}-${size.width}-${colorScheme}.png`;
      await page.screenshot({ path: join(pictureDir, file) });
    }
  }
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
}
