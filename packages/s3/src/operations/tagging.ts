// Tags of objects; tags.ts converts them to tags of files.

import { type Answer, xmlAnswer } from '../answer.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { type Tag, tagOf, wordsOf } from '../tags.ts';
import { elementsOf, readXml, textOf } from '../xml/read.ts';
import { writeXml } from '../xml/write.ts';
import { findObject, placeOf, readSmallBody } from './common.ts';

const parameters = ['versionId'];

export const taggingRoutes: Readonly<Record<string, Route>> = {
  'GET object?tagging': { run: getTagging, parameters },
  'PUT object?tagging': { run: putTagging, parameters, isChange: true },
  'DELETE object?tagging': { run: deleteTagging, parameters, isChange: true },
};

async function getTagging(operation: Operation): Promise<Answer> {
  const { request } = operation;
  const { record } = await findObject(operation, placeOf(request), request.query.get('versionId'));
  const tags = record.tags.map(tagOf).map(({ key, value }) => ({ Key: key, Value: value }));
  return xmlAnswer(writeXml('Tagging', { TagSet: { Tag: tags } }));
}

async function putTagging(operation: Operation): Promise<Answer> {
  const root = readXml(await readSmallBody(operation), 'Tagging');
  const [set] = elementsOf(root, 'TagSet');
  const tags = elementsOf(set, 'Tag').map((tag): Tag => {
    const [key, value] = [textOf(tag, 'Key'), textOf(tag, 'Value')];
    if (key !== undefined && value !== undefined) return { key, value };
    throw new S3Error('MalformedXML', 'Each <Tag> must have a <Key> and a <Value>.');
  });
  await setWords(operation, wordsOf(tags));
  return { status: 200 };
}

async function deleteTagging(operation: Operation): Promise<Answer> {
  await setWords(operation, []);
  return { status: 204 };
}

async function setWords(operation: Operation, tags: readonly string[]): Promise<void> {
  const { request, account, signal } = operation;
  const name = placeOf(request);
  const versionId = request.query.get('versionId');
  const object = versionId === undefined ? undefined : await findObject(operation, name, versionId);
  if (object?.version !== undefined) {
    throw new S3Error('NotImplemented', 'The tags of a former version cannot be changed.');
  }
  await account.storage.change(name, { tags, signal });
}
