// Renders Markdown as elements: HTML in it stays text, only http and https links are active, and
// pictures are not loaded.

import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { texts } from '../language.ts';
import { LongText } from '../parts/long-text.tsx';

export function markdownView(text: string): ComponentChildren {
  return blocks(lexer(text));
}

function blocks(tokens: readonly Token[] | undefined): ComponentChildren[] {
  return (tokens ?? []).map((token, index) => <Part key={index} token={token} />);
}

const headings = ['h2', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

function Part({ token }: { token: Token }) {
  const inner = () => blocks((token as Tokens.Generic).tokens);
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      // One level below the page's title
      const Heading = headings[(token as Tokens.Heading).depth - 1] ?? 'h6';
      return <Heading>{inner()}</Heading>;
    }
    case 'paragraph':
      return <p>{inner()}</p>;
    case 'blockquote':
      return <blockquote>{inner()}</blockquote>;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'strong':
      return <strong>{inner()}</strong>;
    case 'em':
      return <em>{inner()}</em>;
    case 'del':
      return <del>{inner()}</del>;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'code':
      return <LongText text={(token as Tokens.Code).text} />;
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    case 'link':
      return <Link link={token as Tokens.Link}>{inner()}</Link>;
    case 'image':
      return <em>{(token as Tokens.Image).text || texts().file.picture}</em>;
    default:
      return <TextPart token={token} />;
  }
}

function TextPart({ token }: { token: Token }) {
  const { tokens } = token as Tokens.Generic;
  if (tokens !== undefined) return <>{blocks(tokens)}</>;
  return <>{token.type === 'escape' || token.type === 'text' ? decoded(token) : token.raw}</>;
}

/** Decodes character references, which the lexer does not. */
function decoded(token: Token): string {
  const { text } = token as Tokens.Text;
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? "'");
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => <li key={index}>{blocks(item.tokens)}</li>);
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }) {
  const row = (cells: readonly Tokens.TableCell[], Cell: 'th' | 'td') => (
    <tr>
      {cells.map((cell, index) => (
        <Cell key={index}>{blocks(cell.tokens)}</Cell>
      ))}
    </tr>
  );
  return (
    <table>
      <thead>{row(table.header, 'th')}</thead>
      <tbody>{table.rows.map((cells) => row(cells, 'td'))}</tbody>
    </table>
  );
}

function Link({ link, children }: { link: Tokens.Link; children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(link.href)) return <>{children}</>;
  return (
    <a href={link.href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
