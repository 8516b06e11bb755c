// Files in the console: view, search, rename, move, copy, delete, undo, download, preview.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBrowserUnwanted, type Visit } from './support/browser.ts';
import { accessFaults, openConsole, type TestedConsole } from './support/console.ts';

/** Returns a WAV file of a low sound: 8,000 samples of 8 bits a second, uncompressed. */
function sound(seconds: number): Uint8Array {
  const rate = 8_000;
  const samples = Buffer.alloc(rate * seconds);
  for (let at = 0; at < samples.length; at++) samples[at] = at % 80 < 40 ? 120 : 136;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

describe.skipIf(isBrowserUnwanted)('files', () => {
  let tested: TestedConsole;
  let visit: Visit;
  let page: Page;

  beforeAll(async () => {
    tested = await openConsole();
    visit = await tested.open();
    page = visit.page;
    const { storage } = tested;
    await storage.buckets.update('demo', { keepVersionsDays: 1 });
    const file = (path: string, tags: string[] = []) => ({
      path,
      tags,
      source: new Blob([`bytes of ${path}`], { type: 'text/plain' }),
    });
    const many = Array.from({ length: 2_500 }, (_, index) => file(`many/${10_000 + index}.txt`));
    const few = [file('a.txt', ['sea']), file('b.txt'), file('deep/er/c.txt', ['sea'])];
    for await (const { error } of storage.uploadAll([...few, ...many], { bucket: 'demo' })) {
      expect(error).toBeUndefined();
    }
    await tested.signIn(visit);
  });
  afterAll(async () => {
    await visit?.context.close();
    await tested?.close();
  });

  const top = async () => {
    await page.goto(`${tested.pages.url}/#/files/demo/`);
    await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor();
  };
  const names = () => page.getByRole('row').getByRole('link').allTextContents();
  const select = (name: string) => page.getByLabel(`Select ${name}`, { exact: true }).check();

  test('are found by folder, by part of the name, by tag, and with the keyboard only', async () => {
    await expect.poll(names).toEqual(['deep', 'many', 'a.txt', 'b.txt']);
    await page.keyboard.press('/');
    await page.keyboard.type('b.t');
    await expect.poll(names).toEqual(['b.txt']);
    await page.getByRole('searchbox').fill('#sea');
    await page.keyboard.press('Enter');
    await expect.poll(names).toEqual(['a.txt', 'deep/er/c.txt']);
    await page.getByRole('searchbox').fill('C.T');
    await page.getByRole('button', { name: 'Search the bucket' }).click();
    await page.getByText('1 file found among 2,503 files').waitFor();
    expect(await names()).toEqual(['deep/er/c.txt']);
    await page.getByRole('searchbox').fill('');
    await expect.poll(names).toEqual(['deep', 'many', 'a.txt', 'b.txt']);
    await page.getByRole('row', { name: 'deep' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'deep' }).waitFor();
    // The page focuses its heading, which hides the scopes of a text typed before
    const focused = () => page.evaluate(() => document.activeElement?.tagName);
    await expect.poll(focused).toBe('H1');
    await page.getByRole('searchbox').fill('txt');
    await page.getByRole('button', { name: 'Search this folder' }).click();
    await page.getByText('1 file found among 1 file').waitFor();
    expect(await names()).toEqual(['er/c.txt']);
    await page.getByRole('searchbox').fill('B.');
    await page.getByRole('button', { name: 'Search the bucket' }).click();
    await expect.poll(names).toEqual(['b.txt']);
  });

  test('of a large folder can be scrolled to the end with few rows drawn at a time', async () => {
    await top();
    await page.getByRole('link', { name: 'many' }).click();
    await page.getByText('500 entries so far').waitFor();
    await page.getByRole('row').nth(1).focus();
    await expect
      .poll(async () => {
        await page.keyboard.press('End');
        return page.getByText('2,500 files').count();
      })
      .toBe(1);
    const most = await page.evaluate(async () => {
      const list = document.querySelector('[role=rowgroup]');
      if (list === null) throw new Error('There is no list');
      let rows = 0;
      for (let step = 1; step <= 60; step++) {
        list.scrollTop = (list.scrollHeight * step) / 60;
        await new Promise(requestAnimationFrame);
        rows = Math.max(rows, document.querySelectorAll('[role=row]').length);
      }
      return rows;
    });
    await page.getByRole('link', { name: '12499.txt' }).waitFor();
    // The duration of a frame depends on the number of rows; bench/console.ts measures it.
    expect(most).toBeLessThan(100);
    await page.getByRole('button', { name: 'Size' }).click();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('button', { name: 'Name' }).click();
    await expect.poll(async () => (await names())[0]).toBe('12499.txt');
  });

  test('are renamed, unless the name is taken, and copied and moved', async () => {
    await top();
    await select('b.txt');
    await page.getByRole('button', { name: 'Rename' }).click();
    const field = page.getByLabel('New name of b.txt');
    await field.fill('a.txt');
    await page.keyboard.press('Enter');
    await page.getByText('The file "a.txt" already exists.').waitFor();
    expect(await field.inputValue()).toBe('a.txt');
    await field.fill('bee.txt');
    await page.keyboard.press('Enter');
    await expect.poll(names).toEqual(['deep', 'many', 'a.txt', 'bee.txt']);
    await select('bee.txt');
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
    await expect.poll(names).toEqual(['deep', 'many', 'a.txt', 'bee (2).txt', 'bee.txt']);
    await select('bee (2).txt');
    await select('deep');
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByLabel('New folder in it').fill('attic');
    await page.keyboard.press('Enter');
    await expect.poll(names).toEqual(['attic', 'many', 'a.txt', 'bee.txt']);
    const moved = await tested.storage.usage({ bucket: 'demo', prefix: 'attic/deep/' });
    expect(moved.files).toBe(1);
    await select('a.txt');
    await page.getByRole('button', { name: 'Move' }).click();
    // The dialog begins with the folder in which the file is.
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await page.getByText('no entries moved to').waitFor();
    expect(await names()).toEqual(['attic', 'many', 'a.txt', 'bee.txt']);
  });

  test('are deleted with the keyboard, and restored', async () => {
    await page.getByRole('row', { name: 'bee.txt' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Delete');
    await page.getByText('you can undo this').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(names).toEqual(['attic', 'many', 'a.txt']);
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await expect.poll(names).toEqual(['attic', 'many', 'a.txt', 'bee.txt']);
  });

  test('are downloaded: one unchanged, several as a zip', async () => {
    // Removes the file picker, which most browsers lack.
    await page.evaluate(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
    await select('a.txt');
    const [one] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(await readFile(await one.path(), 'utf8')).toBe('bytes of a.txt');
    await select('attic');
    const [zip] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(zip.suggestedFilename()).toBe('demo.zip');
    const bytes = await readFile(await zip.path());
    expect(bytes.includes('attic/deep/er/c.txt')).toBe(true);
    expect(bytes.includes('bytes of a.txt')).toBe(true);
    expect(visit.faults).toEqual([]);
  });

  test('are put into a zip whose progress is shown and that can be stopped', async () => {
    await top();
    await page.evaluate(() => Reflect.deleteProperty(globalThis, 'showSaveFilePicker'));
    await select('many');
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByRole('button', { name: / of 58 kB$/ }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Download' }).waitFor();
    expect(await page.getByText('many.zip').count()).toBe(0);
  });

  test('of text, code and values are shown, and the neighbours are one key away', async () => {
    const put = (path: string, text: string, contentType: string) =>
      tested.storage.upload(new TextEncoder().encode(text), { bucket: 'demo', path, contentType });
    await put('shown/1.csv', 'name;price\n"a; b";1,5\n<b>c</b>;2', 'text/csv');
    await put('shown/2.ts', 'export const two = 2;', 'video/mp2t');
    await put('shown/sub/3.txt', 'three', 'text/plain');
    await page.goto(`${tested.pages.url}/#/file/demo/shown/1.csv`);
    const cells = page.getByRole('cell');
    await expect.poll(() => cells.allTextContents()).toEqual(['a; b', '1,5', '<b>c</b>', '2']);
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Next' }).waitFor();
    expect(await page.getByRole('link', { name: 'Previous' }).count()).toBe(0);
    await page.keyboard.press('ArrowRight');
    await page.getByText('export const two = 2;').waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByRole('heading', { level: 1, name: '1.csv' }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  test('with sound play from any position', async () => {
    const path = 'hum.wav';
    await tested.storage.upload(sound(600), { bucket: 'demo', path, contentType: 'audio/wav' });
    await page.goto(`${tested.pages.url}/#/file/demo/${path}`);
    const player = page.getByLabel(path);
    await player.waitFor();
    const place = await player.evaluate(async (audio: HTMLAudioElement) => {
      const happens = (name: string) =>
        new Promise((resolve) => audio.addEventListener(name, resolve, { once: true }));
      if (audio.readyState === 0) await happens('loadedmetadata');
      const { duration } = audio;
      audio.currentTime = 590;
      await happens('seeked');
      return [duration, audio.currentTime];
    });
    expect(place).toEqual([600, 590]);
    expect(visit.faults).toEqual([]);
  });
});
