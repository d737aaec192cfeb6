'use strict';
// The page of one program: levels side by side, and what belongs to them. All data is in the element #data.
const D = JSON.parse(document.getElementById('data').textContent);
// Machine code is a level after the others.
const firstCode = D.levels.length;
for (const pane of D.code) D.levels.push({ ...pane, new: [], gone: [], passes: [], pictures: {}, isCode: true });
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
};
const html = (text) => text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one]);
const svg = (text) => make('div', {}, document.createRange().createContextualFragment(text));
const bytes = (count) => (count === null ? 'a run knows' : count.toLocaleString('en-US'));
const micro = (seconds) => `${(seconds * 1e6).toPrecision(3)} µs`;
const COLOUR = (number, light = 80) => `hsl(${(number * 137.5) % 360} 65% ${light}%)`;

// Words of MLIR: a value, an alias or a symbol, a type, a string, a comment, an operation's name.
const WORDS = /("(?:[^"\\]|\\.)*")|(\/\/.*)|(%[\w$.#-]+)|([#!@^][\w$.]+)|\b((?:vector|memref|tensor)<[^<>]*>|(?:[if]\d+|bf16|index|tf32)\b)|\b([a-z_]\w*\.[\w.]+)/g;
const paint = (line) => {
  let out = '', at = 0;
  for (const found of line.matchAll(WORDS)) {
    const kind = ['s', 'c', 'v', 't', 't', 'o'][found.slice(1).findIndex((group) => group !== undefined)];
    out += html(line.slice(at, found.index)) + `<span class="${kind}">${html(found[0])}</span>`;
    at = found.index + found[0].length;
  }
  return out + html(line.slice(at));
};

// ---- Where operations came from, and what they became.
const at = D.levels.map((level) => {
  const byLine = new Map();
  for (const op of level.ops) if (!byLine.has(op[0])) byLine.set(op[0], op);
  return byLine;
});
const became = D.levels.map(() => new Map()); // line -> level -> lines
D.levels.forEach((level, number) => {
  for (const [line, , origins] of level.ops) {
    for (const [from, lines] of Object.entries(origins)) {
      for (const one of lines) {
        const there = became[from].get(one) ?? new Map();
        became[from].set(one, there);
        if (!there.has(number)) there.set(number, []);
        there.get(number).push(line);
      }
    }
  }
});

// ---- The levels, side by side.
const panes = D.levels.map((level, number) => {
  const fresh = new Set(level.new), gone = new Set(level.gone);
  const body = make('div');
  body.innerHTML = level.lines.map((line, index) => {
    const kind = (fresh.has(index + 1) ? ' new' : '') + (gone.has(index + 1) ? ' gone' : '');
    return `<div class="l${kind}" data-l="${index + 1}"><i>${index + 1}</i><code>${paint(line)}</code></div>`;
  }).join('');
  const text = make('div', { class: 'text' }, body);
  text.addEventListener('click', (event) => {
    const line = event.target.closest('.l');
    if (line && !String(getSelection())) select(number, Number(line.dataset.l));
  });
  const change = number ? `, ${fresh.size} lines new` : '';
  const figures = level.isCode ? `${level.ops.length} instructions`
    : `${level.ops.length} ops, ${(level.seconds * 1e3).toFixed(1)} ms${change}`;
  const head = make('h2', { title: 'click: fold away', onclick: () => pane.classList.toggle('shut') },
    level.name, make('span', { class: 'figures' }, figures));
  const pane = make('div', { class: 'pane', id: `level-${number}` }, head, text);
  return pane;
});
const row = (level, line) => panes[level].querySelector('.text').firstChild.children[line - 1];
let focused = 0, selected = null;

function focus(level, scroll = true) {
  if (!panes.length) return;
  focused = Math.max(0, Math.min(panes.length - 1, level));
  panes.forEach((pane, number) => pane.classList.toggle('focus', number === focused));
  panes[focused].classList.remove('shut');
  if (scroll) panes[focused].scrollIntoView({ inline: 'center', block: 'nearest' });
}
function show(level, line) {
  const text = panes[level].querySelector('.text'), target = row(level, line);
  if (!target) return;
  text.scrollTop += target.getBoundingClientRect().top - text.getBoundingClientRect().top - text.clientHeight / 3;
}
// The operation of a line is the one that begins there, or the last one that began before.
function opAt(level, line) {
  for (let one = line; one > 0; one--) if (at[level].has(one)) return at[level].get(one);
  return null;
}
function select(level, line, scrollOwn = false) {
  open('levels');
  for (const old of document.querySelectorAll('.own, .from, .into')) old.classList.remove('own', 'from', 'into');
  const op = opAt(level, line);
  selected = op && { level, line: op[0] };
  const origins = op ? Object.entries(op[2]).map(([number, lines]) => [Number(number), lines]) : [];
  const later = op ? [...(became[level].get(op[0]) ?? new Map())].sort((a, b) => a[0] - b[0]) : [];
  const mark = (number, lines, kind) => {
    lines.forEach((one) => row(number, one)?.classList.add(kind));
    if (!lines.some((one) => visible(number, one))) show(number, lines[0]);
  };
  // First: it takes height from the levels, out of which lines would go that were in sight.
  describe(level, op, origins, later);
  origins.forEach(([number, lines]) => mark(number, lines, 'from'));
  later.forEach(([number, lines]) => mark(number, lines, 'into'));
  if (op) {
    row(level, op[0]).classList.add('own');
    history.replaceState(null, '', `#${level}:${op[0]}`);
    if (scrollOwn || !visible(level, op[0])) show(level, op[0]);
  }
  focus(level, scrollOwn);
}
function visible(level, line) {
  const text = panes[level].querySelector('.text').getBoundingClientRect(), one = row(level, line)?.getBoundingClientRect();
  return one && one.top >= text.top && one.bottom <= text.bottom;
}

// ---- What is known of the chosen operation.
const details = make('div', { id: 'details', hidden: true });
const link = (level, line, text) => make('a', { onclick: () => select(level, line, true) }, text);
function group(level, lines) {
  const byName = new Map();
  for (const line of lines) {
    const name = at[level].get(line)?.[1] ?? '?';
    byName.set(name, [...(byName.get(name) ?? []), line]);
  }
  const list = make('div', {}, make('b', {}, D.levels[level].name), ' ');
  for (const [name, all] of byName) {
    list.append(make('br'), `${all.length > 1 ? `${all.length} × ` : ''}`, link(level, all[0], `${name} :${all[0]}`));
  }
  return list;
}
function describe(level, op, origins, later) {
  details.hidden = false;
  if (!op) {
    details.replaceChildren(make('div', {}, 'no operation is here'));
    return;
  }
  const where = make('div', {}, make('h3', {}, `${op[1]}, line ${op[0]} of ${D.levels[level].name}`));
  if (op[3]) {
    const [file, line] = [op[3].split(':').slice(0, -2).join(':'), Number(op[3].split(':').at(-2))];
    where.append(make('div', { class: 'source' }, `written at ${op[3]}`));
    if (D.sources[file]?.[line - 1]) where.append(make('pre', {}, D.sources[file][line - 1].trim().slice(0, 600)));
  } else where.append(make('div', { class: 'dim' }, 'no place in a file: the compiler made it'));
  const before = make('div', { class: 'origins' }, make('h3', {}, 'came from'));
  if (origins.length) origins.forEach(([number, lines]) => before.append(group(number, lines)));
  else before.append(make('div', { class: 'dim' }, level ? 'nothing that is known: constants and the like are made anew' : 'the payload'));
  const after = make('div', { class: 'became' }, make('h3', {}, 'became'));
  if (later.length) later.forEach(([number, lines]) => after.append(group(number, lines)));
  else after.append(make('div', { class: 'dim' }, level + 1 < firstCode ? 'nothing: it was folded, or nobody reads it' : 'the last level'));
  for (const [number, lines] of later.filter(([one]) => one >= firstCode)) {
    after.append(make('div', {}, make('a', { class: 'instructions', onclick: () => pickMachine(number, lines) },
      `${lines.length} of the instructions, with their purposes`)));
  }
  const parts = [where, before, after];
  const pictures = D.levels[level].pictures[op[0]] ?? [];
  if (pictures.length) parts.push(make('div', { class: 'layouts' }, make('h3', {}, 'layout'), ...pictures.map((one) => picture(D.pictures[one], 250))));
  const passes = [...new Set(D.levels[level].passes)].filter((one) => D.documents[one]);
  if (passes.length) {
    parts.push(make('div', {}, make('h3', {}, 'passes of this level'), ...passes.map((one) => make('div', {}, passLink(one)))));
  }
  details.replaceChildren(...parts);
}

// ---- Texts about passes.
const reader = make('div', { id: 'document', hidden: true });
const passLink = (flag) => (D.documents[flag]
  ? make('a', { class: 'read', title: D.documents[flag][0], onclick: (event) => { event.stopPropagation(); read(flag); } }, flag)
  : make('span', {}, flag));
function read(flag) {
  const [summary, text] = D.documents[flag];
  const all = D.docs ? [make('a', { href: `${D.docs}${flag}`, target: '_blank' }, 'in the reference')] : [];
  reader.replaceChildren(make('h3', {}, flag), make('p', {}, summary), ...markdown(text), ...all);
  reader.hidden = false;
  reader.scrollTop = 0;
}
// As much of Markdown as docs/passes.md has: blocks of code, headings, tables as they are, code in lines.
function markdown(text) {
  return text.split(/^(```[^]*?^```)$/m).flatMap((part) => {
    if (part.startsWith('```')) return [make('pre', { class: 'listing' }, part.replace(/^```.*\n|```$/g, ''))];
    return part.trim().split(/\n{2,}/).filter(Boolean).map((one) => {
      const heading = one.match(/^#+ (.*)$/), block = make(heading ? 'h3' : one.startsWith('|') ? 'pre' : 'p');
      block.innerHTML = html(heading ? heading[1] : one).replace(/`([^`]+)`/g, '<code>$1</code>');
      return block;
    });
  });
}

// ---- Layouts as pictures.
function picture(data, most = 640) {
  const [rows, columns] = data.size, scale = data.kind === 'lanes' ? Math.max(17, most / columns) : most / Math.max(rows, columns);
  const width = columns * scale, height = rows * scale;
  let out = '';
  if (data.kind === 'map') {
    const [high, wide] = data.piece;
    for (const [row, column, owners] of data.pieces) {
      const label = owners.length > 2 ? `${owners[0]}..${owners.at(-1)}` : owners.join(',');
      out += `<g><rect x="${column * scale}" y="${row * scale}" width="${wide * scale}" height="${high * scale}" fill="${COLOUR(owners[0])}" stroke="#fff"><title>rows ${row} to ${row + high - 1}, columns ${column} to ${column + wide - 1}: subgroups ${owners.join(', ')}</title></rect>`;
      if (high * scale > 9 && wide * scale > label.length * 5) out += `<text x="${(column + wide / 2) * scale}" y="${(row + high / 2) * scale + 3}">${label}</text>`;
      out += '</g>';
    }
  } else {
    data.cells.forEach((cells, row) => cells.forEach(([lane, register], column) => {
      out += `<g><rect x="${column * scale}" y="${row * scale}" width="${scale}" height="${scale}" fill="${COLOUR(lane)}" stroke="#fff"><title>row ${row}, column ${column}: lane ${lane}, register ${register}</title></rect>`
        + `<text x="${(column + 0.5) * scale}" y="${(row + 0.5) * scale}">L${lane}</text><text x="${(column + 0.5) * scale}" y="${(row + 0.5) * scale + 8}">R${register}</text></g>`;
    }));
  }
  return make('div', { class: 'layout' }, make('div', {}, data.title),
    svg(`<svg class="picture" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${out}</svg>`));
}

// ---- Machine code.
function pickMachine(level, lines) {
  open('machine');
  const chosen = new Set(lines.map((line) => `${level}:${line}`));
  for (const line of document.querySelectorAll('.m')) line.classList.toggle('picked', chosen.has(line.dataset.at));
  document.querySelector('.m.picked')?.scrollIntoView({ block: 'center' });
}
const machineTab = () => make('div', {}, ...D.notes.map((note) => make('p', { class: 'dim' }, note)), ...D.machine.map((kernel) => {
  const code = make('div', { class: 'text', style: 'padding-bottom: 0' });
  const level = firstCode + kernel.pane;
  code.innerHTML = kernel.lines.map(([text, purpose, hot], index) => `<div class="m p-${purpose}${hot ? ' hot' : ''}" data-p="${purpose}" data-at="${level}:${kernel.first + index}"><b>${purpose}</b><span>${html(text)}</span></div>`).join('');
  code.addEventListener('click', (event) => {
    const line = event.target.closest('.m');
    if (line && !String(getSelection())) select(...line.dataset.at.split(':').map(Number), true);
  });
  const none = kernel.chip !== 'this CPU' ? 'nothing is spilled' : kernel.loop ? 'nothing is spilled in its hottest loop' : '';
  const spills = make('p', { class: kernel.spilled ? 'bad' : 'good' }, kernel.spilled || none);
  return make('div', {}, make('h3', {}, `${kernel.name} on ${kernel.chip}: ${kernel.facts}`), spills,
    make('div', { class: 'code' }, make('div', {}, make('p', { class: 'dim' }, 'all instructions; those of the hottest loop have a background; a click shows what one was made of'), code),
      make('div', {}, make('pre', {}, kernel.table), make('pre', {}, kernel.loop))));
}), D.spirv ? make('details', {}, make('summary', {}, 'SPIR-V'), make('pre', {}, D.spirv)) : '');

// ---- Passes.
function passesTab() {
  const list = make('div'), diff = make('pre', { class: 'diffs' }, 'choose a pass');
  const all = make('input', { type: 'checkbox', id: 'all-passes' });
  const fill = () => {
    list.replaceChildren();
    for (const [level, runs] of Object.entries(D.passes)) {
      const same = runs.filter((run) => !run.diff.length).length;
      list.append(make('h3', {}, level, make('span', { class: 'figures' }, ` ${runs.length} runs, ${same} changed nothing`)));
      for (const run of runs) {
        if (!run.diff.length && !all.checked) continue;
        const entry = make('div', { class: `pass${run.diff.length ? '' : ' same'}` }, passLink(run.flag), make('span', { class: 'dim' }, run.on.replace('builtin.module', ''), run.failed ? ' failed' : ''));
        entry.addEventListener('click', () => {
          for (const old of list.querySelectorAll('.on')) old.classList.remove('on');
          entry.classList.add('on');
          diff.innerHTML = `${html(run.name)} (${html(run.flag)})${D.documents[run.flag] ? `: ${html(D.documents[run.flag][0])}` : ''}\n\n` + (run.diff.length ? run.diff : ['it changed nothing']).map((line) => {
            const kind = line.startsWith('+') ? 'plus' : line.startsWith('-') ? 'minus' : line.startsWith('@@') ? 'at' : '';
            return `<span class="${kind}">${html(line)}</span>`;
          }).join('\n');
        });
        list.append(entry);
      }
    }
  };
  all.addEventListener('change', fill);
  fill();
  return make('div', { class: 'two' }, make('div', {}, make('label', {}, all, ' those that changed nothing, too'), list), make('div', {}, diff));
}

// ---- The program's kernels.
function programTab() {
  const graph = svg(D.program.svg), told = make('div', { id: 'kernel' }, make('p', { class: 'dim' }, 'click a kernel'));
  const choose = (number) => {
    const kernel = D.program.kernels.find((one) => one.number === number);
    for (const box of graph.querySelectorAll('.kernel')) box.classList.toggle('on', Number(box.dataset.kernel) === number);
    const rows = kernel.ops.map((op) => make('tr', {}, make('td', {}, op.lines.length ? link(0, op.lines[0], op.name) : op.name), make('td', {}, op.sizes), make('td', {}, op.why)));
    told.replaceChildren(make('h3', {}, `kernel ${number}, schedule ${kernel.schedule}`),
      make('p', {}, `reads ${bytes(kernel.reads)} bytes at least, writes ${bytes(kernel.writes)}`),
      kernel.seconds === null ? null : make('p', { class: 'least' }, `${micro(kernel.seconds)} at least: ${kernel.work < kernel.seconds ? `bound by memory${kernel.work ? `; its products take ${micro(kernel.work)}` : ''}` : 'bound by the matrix units'}`),
      make('table', {}, make('tr', {}, ...['op', 'sizes', 'why it is in this kernel'].map((head) => make('th', {}, head))), ...rows));
  };
  graph.addEventListener('click', (event) => {
    const box = event.target.closest('.kernel');
    if (box) choose(Number(box.dataset.kernel));
  });
  const { moved, seconds, product } = D.program;
  const total = moved === null ? '' : `, which move ${bytes(moved)} bytes at least`;
  const bars = seconds === null ? 'bars are shares of these bytes'
    : `${product} takes ${micro(seconds)} at least, memory and matrix units at their peaks; bars are shares of this time`;
  return make('div', {}, make('p', {}, `@${D.program.name}: ${D.program.kernels.length} kernels${total}; ${bars}`),
    make('div', { class: 'code' }, graph, told));
}

// ---- Memory by time.
function memoryTab() {
  const { steps, buffers, level, peak } = D.memory, wide = Math.max(36, Math.min(150, 1000 / steps.length)), high = 320, left = 110;
  const own = buffers.map((buffer, index) => [buffer, index]).filter(([buffer]) => buffer.whole === null);
  const base = new Map();
  let top = 0;
  for (const [buffer, index] of own) { base.set(index, top); top += buffer.size; }
  let out = '';
  const shown = buffers.some((buffer) => buffer.whole !== null) ? buffers.filter((buffer) => buffer.whole !== null || !buffers.some((other) => other.whole === buffers.indexOf(buffer))) : buffers;
  for (const buffer of shown) {
    const index = buffers.indexOf(buffer), start = buffer.whole === null ? base.get(index) : base.get(buffer.whole) + (buffer.offset ?? 0);
    const y = 20 + (start / top) * high, tall = Math.max(2, (buffer.size / top) * high), x = left + buffer.first * wide, width = (buffer.last - buffer.first + 1) * wide;
    out += `<rect class="buffer" x="${x}" y="${y}" width="${width}" height="${tall}" fill="${COLOUR(index)}"><title>${html(buffer.name)}: ${bytes(buffer.size)} bytes, steps ${buffer.first} to ${buffer.last}${buffer.offset === null ? '' : `, from byte ${bytes(buffer.offset)}`}</title></rect>`;
    out += tall > 12 && width > 60 ? `<text x="${x + 4}" y="${y + Math.min(tall, 26) / 2 + 5}">${html(buffer.name)}</text>` : '<text></text>';
  }
  steps.forEach((step, index) => { out += `<text transform="translate(${left + (index + 0.5) * wide} ${high + 34}) rotate(35)">${index} ${html(step.slice(0, 34))}</text>`; });
  out += `<text x="4" y="30">0</text><text x="4" y="${high + 18}">${bytes(top)} bytes</text>`;
  const width = left + steps.length * wide + 220, tall = high + 220;
  return make('div', {}, make('p', {}, `memory that the function allocates, at ${level}: ${bytes(peak)} bytes at most; steps from left to right`),
    svg(`<svg class="memory" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}">${out}</svg>`));
}

// ---- Numbers.
function numbersTab() {
  const rows = D.errors.map((one) => ('why' in one
    ? make('tr', {}, make('td', {}, one.level), make('td', { colspan: 5 }, one.why))
    : make('tr', {}, make('td', {}, one.level), make('td', { class: 'n' }, String(one.result)), ...[one.max, one.rows, one.limit].map((value) => make('td', { class: 'n' }, Number(value).toExponential(2))),
      make('td', { class: one.good ? 'good' : 'bad' }, one.good ? 'right' : 'wrong'))));
  return make('div', {}, make('p', {}, 'Each level compiled from its own module on, and run here; differences from NumPy in f64.'),
    make('table', {}, make('tr', {}, ...['level', 'result', 'max|d - ref| / max|ref|', 'by rows', 'limit', ''].map((head) => make('th', {}, head))), ...rows));
}

// ---- Tabs, keys, search.
const tabs = [['levels', 'Levels', () => null]];
if (D.program && D.program.kernels.length > 1) tabs.unshift(['program', 'Program', programTab]);
if (Object.keys(D.passes).length) tabs.push(['passes', 'Passes', passesTab]);
if (D.pictures.length) tabs.push(['layouts', 'Layouts', () => make('div', {}, ...D.pictures.map((one) => picture(one)))]);
if (D.machine.length || D.spirv || D.notes.length) tabs.push(['machine', 'Machine code', machineTab]);
if (D.memory) tabs.push(['memory', 'Memory', memoryTab]);
if (D.errors.length) tabs.push(['numbers', 'Numbers', numbersTab]);
if (D.explained || D.schedule) tabs.push(['why', 'Why', () => make('div', {}, make('pre', {}, D.explained), make('pre', { class: 'dim' }, D.schedule))]);
const sections = new Map();
function open(id) {
  const [, , build] = tabs.find(([name]) => name === id);
  const section = sections.get(id);
  if (!section.childNodes.length) section.append(build());
  for (const [name, other] of sections) other.hidden = name !== id;
  for (const button of document.querySelectorAll('nav button')) button.classList.toggle('on', button.dataset.tab === id);
}
const search = make('input', { id: 'search', placeholder: 'search levels  /', type: 'search' });
const found = make('span', { id: 'found', class: 'dim' });
let hits = [], hit = -1;
function find(text) {
  for (const old of document.querySelectorAll('.hit')) old.classList.remove('hit');
  hits = [];
  if (text) {
    D.levels.forEach((level, number) => level.lines.forEach((line, index) => {
      if (line.includes(text)) hits.push([number, index + 1]);
    }));
    hits.forEach(([number, line]) => row(number, line).classList.add('hit'));
  }
  hit = -1;
  found.textContent = text ? `${hits.length} lines` : '';
}
function next(step) {
  if (!hits.length) return;
  hit = (hit + step + hits.length) % hits.length;
  found.textContent = `${hit + 1} of ${hits.length} lines`;
  select(...hits[hit], true);
}
search.addEventListener('input', () => { open('levels'); find(search.value); });
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') { next(event.shiftKey ? -1 : 1); event.preventDefault(); }
  if (event.key === 'Escape') search.blur();
});
const help = make('div', { id: 'help', hidden: true });
help.innerHTML = '<h3>Keys</h3><p><kbd>j</kbd> <kbd>k</kbd> next level, level before<br><kbd>↓</kbd> <kbd>↑</kbd> next operation, operation before<br><kbd>/</kbd> search, <kbd>n</kbd> <kbd>N</kbd> next line, line before<br><kbd>d</kbd> lines that are new or go away<br><kbd>1</kbd> .. <kbd>9</kbd> the tabs<br><kbd>Esc</kbd> chooses nothing</p><p>Click a line: yellow is the operation, blue what it was made of, green what it became.<br>Click the name of a level to fold it away.</p>';
const body = make('div', { class: 'panes' }, ...panes);
const diffButton = make('button', { class: 'tool', id: 'diff', onclick: () => toggleDiff() }, 'diff');
function toggleDiff() {
  body.classList.toggle('diff');
  diffButton.classList.toggle('on', body.classList.contains('diff'));
}
function clear() {
  for (const old of document.querySelectorAll('.own, .from, .into, .hit')) old.classList.remove('own', 'from', 'into', 'hit');
  details.hidden = true;
  help.hidden = true;
  reader.hidden = true;
  selected = null;
  search.value = found.textContent = '';
  hits = [];
}
function step(by) {
  const lines = D.levels[focused].ops.map((op) => op[0]);
  if (!lines.length) return;
  const index = selected && selected.level === focused ? lines.indexOf(selected.line) + by : 0;
  select(focused, lines[Math.max(0, Math.min(lines.length - 1, index))], true);
}
document.addEventListener('keydown', (event) => {
  if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    j: () => { open('levels'); focus(focused + 1); }, k: () => { open('levels'); focus(focused - 1); }, d: toggleDiff,
    ArrowDown: () => step(1), ArrowUp: () => step(-1), n: () => next(1), N: () => next(-1), Escape: clear,
    '/': () => { open('levels'); search.focus(); }, '?': () => { help.hidden = !help.hidden; },
  };
  const tab = tabs[Number(event.key) - 1];
  if (keys[event.key]) { keys[event.key](); event.preventDefault(); } else if (tab) open(tab[0]);
});
const main = make('main');
for (const [id] of tabs) {
  const section = make('section', { id, hidden: true });
  if (id === 'levels') section.append(body, details);
  sections.set(id, section);
  main.append(section);
}
document.body.prepend(
  make('header', {}, make('h1', { title: D.title }, D.title), make('span', { class: 'target' }, D.target),
    make('nav', {}, ...tabs.map(([id, name]) => make('button', { 'data-tab': id, onclick: () => open(id) }, name))),
    search, found, diffButton, make('button', { class: 'tool', onclick: () => { help.hidden = !help.hidden; } }, '?')),
  ...(D.state || D.error ? [make('div', { id: 'state' }, [D.state, D.error].filter(Boolean).join('\n'))] : []), main, help, reader);
const [, level, line] = location.hash.match(/^#(\d+):(\d+)$/) ?? [];
open(level === undefined ? tabs[0][0] : 'levels');
focus(0, false);
if (level !== undefined && D.levels[level]) select(Number(level), Number(line), true);
