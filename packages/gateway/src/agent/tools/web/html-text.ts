// A page as text: one pass from left to right, so that the time is in proportion to the length whatever the page holds.
// Scripts, styles and the like are left out; headings, lists, links and preformatted text keep their shape.

const DROPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'select', 'textarea']);
const BLOCKS = new Set(
  'address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody thead title tr ul'.split(
    ' ',
  ),
);
const ITEMS = new Set(['li', 'tr', 'dt', 'dd']);
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', reg: '®', trade: '™', hellip: '…', mdash: '—', ndash: '–' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', bull: '•', middot: '·', euro: '€', pound: '£', deg: '°' },
  ...{
    times: '×',
    larr: '←',
    rarr: '→',
    auml: 'ä',
    ouml: 'ö',
    uuml: 'ü',
    Auml: 'Ä',
    Ouml: 'Ö',
    Uuml: 'Ü',
    szlig: 'ß',
    eacute: 'é',
    egrave: 'è',
  },
};

export function htmlToText(html: string): string {
  const lower = asciiLower(html);
  const out = createWriter();
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) {
      out.text(decode(html.slice(at)));
      break;
    }
    if (open > at) out.text(decode(html.slice(at, open)));
    if (lower.startsWith('<!--', open)) {
      const end = lower.indexOf('-->', open + 4);
      at = end < 0 ? html.length : end + 3;
    } else if (/[a-z/!?]/.test(lower[open + 1] ?? '')) {
      const end = endOfTag(html, open);
      const name = nameOf(lower, open);
      if (DROPPED.has(name)) at = afterElement(lower, name, end);
      else {
        tag(out, name, html.slice(open, end));
        at = end;
      }
    } else {
      out.text('<');
      at = open + 1;
    }
  }
  return out.done();
}

interface Writer {
  preformatted: boolean;
  /** Where the words that come now lead. */
  link: string | undefined;
  text(text: string): void;
  line(): void;
  raw(text: string): void;
  done(): string;
}

function createWriter(): Writer {
  const parts: string[] = [];
  let lineIsEmpty = true;
  let space = false;
  let breaks = 2;
  const put = (text: string) => {
    if (space && !lineIsEmpty) parts.push(' ');
    parts.push(text);
    [space, lineIsEmpty, breaks] = [false, false, 0];
  };
  return {
    preformatted: false,
    link: undefined,
    text(text) {
      if (this.preformatted) {
        if (text !== '') put(text);
        return;
      }
      const words = text.split(/[\s\u00a0]+/);
      if (words[0] === '' && words.length > 1) space = true;
      const inner = words.filter(Boolean).join(' ');
      if (inner !== '') put(inner);
      if (words.length > 1 && words.at(-1) === '') space = true;
    },
    raw: put,
    line() {
      space = false;
      lineIsEmpty = true;
      if (breaks++ < 2) parts.push('\n');
    },
    done: () => parts.join('').trim(),
  };
}

function tag(out: Writer, name: string, source: string): void {
  const closing = source[1] === '/';
  if (name === 'pre') {
    out.line();
    out.preformatted = !closing;
  } else if (name === 'a' && closing) {
    finishLink(out, undefined);
  } else if (name === 'a') {
    finishLink(out, attribute(source, 'href'));
  } else if (name === 'img' && !closing) {
    const alt = attribute(source, 'alt');
    if (alt) out.text(` [${alt}] `);
  } else if (name === 'td' || name === 'th') {
    if (!closing) out.text(' | ');
  } else if (BLOCKS.has(name)) {
    // The next item brings its own line.
    if (closing && ITEMS.has(name)) return;
    out.line();
    if (closing) return;
    if (name === 'li') out.raw('- ');
    else if (name[0] === 'h' && name[1]! >= '1' && name[1]! <= '6') out.raw(`${'#'.repeat(Number(name[1]))} `);
  }
}

/** An address is written behind the words that lead there. */
function finishLink(out: Writer, next: string | undefined): void {
  if (out.link?.startsWith('http')) out.text(` (${out.link})`);
  out.link = next;
}

/** Behind the `>` that ends the tag; one inside quotes does not. */
function endOfTag(html: string, open: number): number {
  let quote = '';
  for (let at = open + 1; at < html.length; at++) {
    const char = html[at]!;
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '>') return at + 1;
    else if ((char === '"' || char === "'") && html[at - 1] === '=') quote = char;
  }
  return html.length;
}

function nameOf(lower: string, open: number): string {
  const start = lower[open + 1] === '/' ? open + 2 : open + 1;
  let end = start;
  while (end < lower.length && end - start < 32 && /[a-z0-9-]/.test(lower[end]!)) end++;
  return lower.slice(start, end);
}

function afterElement(lower: string, name: string, from: number): number {
  const close = lower.indexOf(`</${name}`, from);
  if (close < 0) return lower.length;
  const end = lower.indexOf('>', close);
  return end < 0 ? lower.length : end + 1;
}

function attribute(source: string, name: string): string | undefined {
  const lower = asciiLower(source);
  for (let at = lower.indexOf(`${name}=`); at >= 0; at = lower.indexOf(`${name}=`, at + 1)) {
    if (!/\s/.test(source[at - 1] ?? '')) continue;
    const start = at + name.length + 1;
    const quote = source[start];
    if (quote === '"' || quote === "'") {
      const end = source.indexOf(quote, start + 1);
      return end < 0 ? undefined : decode(source.slice(start + 1, end));
    }
    const [value = ''] = source.slice(start, start + 4_096).split(/[\s>]/, 1);
    return decode(value);
  }
  return undefined;
}

/** Only ASCII letters, so that positions stay the same. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z]{2,8});/g, (whole, name: string) => {
    if (name[0] !== '#') return ENTITIES[name] ?? whole;
    const code = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const usable = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return usable ? String.fromCodePoint(code) : '\ufffd';
  });
}
