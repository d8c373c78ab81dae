import { createHash } from 'node:crypto';

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

// Puts script and style into index.html, the one file that the binary embeds, and names both by hash in a
// Content-Security-Policy: the page can run nothing else, and can talk to nobody but the server it came from.
export function singleFile() {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle);
      const page = files.find((file) => file.fileName === 'index.html');
      // A closing tag inside a string literal would end the element early.
      const script = files.filter((file) => file.type === 'chunk').map((file) => file.code).join('\n')
        .replaceAll('</script', '<\\/script');
      const style = files.filter((file) => file.fileName.endsWith('.css')).map((file) => String(file.source)).join('\n');
      const policy = `default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; ` +
        `script-src ${hashOf(script)}; style-src ${hashOf(style)}`;

      // Functions as replacements: in a string, "$&" and the like would have a meaning.
      page.source = String(page.source)
        .replace(/<script\b[^>]*\bsrc=[^>]*><\/script>/, '')
        .replace(/<link\b[^>]*rel="stylesheet"[^>]*>/, '')
        .replace('<meta charset="utf-8" />', (charset) =>
          `${charset}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`)
        .replace('</head>', () => `<style>${style}</style>\n  </head>`)
        .replace('</body>', () => `<script type="module">${script}</script>\n  </body>`);
      for (const file of files) {
        if (file !== page) delete bundle[file.fileName];
      }
    },
  };
}
