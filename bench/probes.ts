// Adds probes to a bundle, which count the instructions of each of its functions, without those of
// the functions that it calls. The canister prints the counts at the end of each message.

import ts from 'typescript';

/** The counts of one function in one message. */
export interface FunctionCount {
  readonly name: string;
  readonly calls: number;
  /** Instructions without those of called functions and of the probes. */
  readonly own: number;
  /** Instructions with those of called functions; recursive calls count several times. */
  readonly total: number;
}

/** Names separated by commas; absent: all functions. Few probes distort less. */
const chosenText = process.env.EFS_PROBES;
const chosen = chosenText === undefined ? undefined : new Set(chosenText.split(','));

/** Begins a line that the canister prints. */
export const profileMark = 'profile:';

/** Returns the source with a probe at the beginning and the end of each function. */
export function changeBundle(source: string): string {
  const file = ts.createSourceFile('main.js', source, ts.ScriptTarget.ES2022, true);
  const names: string[] = [];
  const insertions: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && isPlain(node)) probe(node);
    ts.forEachChild(node, visit);
  };
  const probe = (node: ts.FunctionLikeDeclaration) => {
    const { body } = node;
    if (body === undefined || (ts.isBlock(body) && body.statements.length === 0)) return;
    const name = nameOf(node);
    if (chosen !== undefined && !chosen.has(name.replace(/\d+$/, ''))) return;
    const id = names.push(name) - 1;
    if (ts.isBlock(body)) {
      insertions.push({ at: body.getStart() + 1, text: `$in(${id});try{` });
      insertions.push({ at: body.end - 1, text: '}finally{$out()}' });
      return;
    }
    insertions.push({ at: body.getStart(), text: `{$in(${id});try{return(` });
    insertions.push({ at: body.end, text: ')}finally{$out()}}' });
  };
  visit(file);
  return prologue(names) + inserted(source, insertions);
}

function inserted(
  source: string,
  insertions: readonly { readonly at: number; readonly text: string }[],
): string {
  const parts: string[] = [];
  let from = 0;
  // A body that ends where an outer one does is visited later; its end comes first.
  const ordered = insertions.map((insertion, order) => ({ ...insertion, order }));
  ordered.sort((left, right) =>
    left.at === right.at ? rankOf(left) - rankOf(right) : left.at - right.at,
  );
  for (const { at, text } of ordered) {
    parts.push(source.slice(from, at), text);
    from = at;
  }
  return parts.join('') + source.slice(from);
}

/** Ends come before beginnings; inner ends before outer ones, and outer beginnings first. */
function rankOf({ text, order }: { readonly text: string; readonly order: number }): number {
  return /finally/.test(text) ? -order : order;
}

function isPlain(node: ts.SignatureDeclaration): node is ts.FunctionLikeDeclaration {
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  const isAsync = modifiers.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
  const isGenerator = 'asteriskToken' in node && node.asteriskToken !== undefined;
  return !isAsync && !isGenerator;
}

function nameOf(node: ts.Node): string {
  const { parent } = node;
  const own = 'name' in node ? (node.name as ts.Node | undefined) : undefined;
  if (own !== undefined) {
    const isMember = ts.isClassLike(parent) && parent.name !== undefined;
    return isMember ? `${parent.name?.text}.${own.getText()}` : own.getText();
  }
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name.getText();
  }
  let outer: ts.Node = parent;
  while (!ts.isFunctionLike(outer) && !ts.isSourceFile(outer)) outer = outer.parent;
  return ts.isSourceFile(outer) ? '(bundle)' : `${nameOf(outer)}>`;
}

/** The probes' own instructions are measured once a message and subtracted. */
function prologue(names: readonly string[]): string {
  return `
  const $names=${JSON.stringify(names)},$natives=new Map();
  const $count=()=>Number($counter(0));
  let $counter,$top=-1,$inside=0,$outside=0,$rows=new Map();
  const $ids=[],$starts=[],$below=[],$children=[];
  function $in(id){
    $top+=1;$ids[$top]=id;$below[$top]=0;$children[$top]=0;$starts[$top]=$counter?$count():0;
  }
  function $out(){
    const total=($counter?$count():0)-$starts[$top],id=$ids[$top];
    let row=$rows.get(id);
    if(row===undefined)$rows.set(id,row=[0,0,0,0]);
    row[0]+=1;row[1]+=total-$below[$top];row[2]+=total;row[3]+=$children[$top];
    $top-=1;
    if($top>=0){$below[$top]+=total;$children[$top]+=1}else $report();
  }
  function $calibrate(){
    const rounds=64,rows=$rows;$rows=new Map();
    $top=0;$ids[0]=-1;$below[0]=0;$children[0]=0;$starts[0]=0;
    const started=$count();
    for(let i=0;i<rounds;i++){$in(-2);$out()}
    const all=$count()-started;
    const bare=$count();for(let i=0;i<rounds;i++){}
    const loop=$count()-bare;
    $inside=$rows.get(-2)[1]/rounds;$outside=(all-loop)/rounds-$inside;
    $top=-1;$rows=rows;
  }
  function $report(){
    if(!$counter)return;
    $calibrate();
    const lines=[];
    for(const[id,[calls,own,total,children]]of $rows){
      const name=id<$names.length?$names[id]:$natives.get(id);
      const alone=own-calls*$inside-children*$outside;
      lines.push([name,calls,Math.round(alone),Math.round(total)]);
    }
    $rows=new Map();
    $print(${JSON.stringify(profileMark)}+JSON.stringify(lines));
  }
  const $azle=globalThis._azleIc;
  const $print=$azle?.debugPrint;
  if($azle){
    let id=$names.length;
    for(const name of Object.keys($azle)){
      const native=$azle[name],own=id++;
      if(name==='performanceCounter'){$counter=native;continue}
      if(typeof native!=='function')continue;
      $natives.set(own,'native '+name);
      if(${chosen !== undefined})continue;
      $azle[name]=function(...operands){$in(own);try{return native(...operands)}finally{$out()}};
    }
  }
  `;
}
