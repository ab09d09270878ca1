const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** Escapes text for HTML, also within an attribute in double quotes. */
export const escapeHtml = (text: string) => text.replace(/[&<>"]/g, character => ENTITIES[character] ?? '')
