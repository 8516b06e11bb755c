// Draws a transcript as a terminal shows it.

const [cellWidth, lineHeight, margin] = [8.4, 20, 16];

export function drawTerminal(transcript: string): string {
  const lines = transcript.trimEnd().split('\n');
  const columns = Math.max(80, ...lines.map(({ length }) => length));
  const [width, height] = [
    columns * cellWidth + 2 * margin,
    lines.length * lineHeight + 2 * margin,
  ];
  const texts = lines.map((line, index) => {
    const y = margin + (index + 0.75) * lineHeight;
    const colour = line.startsWith('$ ') ? '#9ece6a' : '#d5d8e8';
    return `  <text x="${margin}" y="${y}" fill="${colour}">${escapeXml(line)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    '  <title>What the terminal shows</title>',
    '  <style>text { font: 14px ui-monospace, Menlo, Consolas, monospace; white-space: pre }</style>',
    `  <rect width="100%" height="100%" rx="8" fill="#1a1b26"/>`,
    ...texts,
    '</svg>\n',
  ].join('\n');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
