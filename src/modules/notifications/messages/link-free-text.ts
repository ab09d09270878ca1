/**
 * Matches what mail programs display as a link, such as `https://a.example` or `a.example`. An attacker can register or
 * order with the address of a victim and put a link into the name or the metadata, so such texts are dropped.
 */
const LINK = /:\/\/|[\p{L}\p{N}][.\u3002]\p{L}{2,}/u
/** Emoji and Persian words need them, but they could also hide a link. */
const JOINERS = /[\u200c\u200d]/g

/** Replaces control characters and line breaks by spaces. Returns '' for a text with a link. */
export function linkFreeText(text: string): string {
  const plain = text
    .replace(/(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029])+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return LINK.test(plain.replace(JOINERS, '').normalize('NFKC')) ? '' : plain
}
