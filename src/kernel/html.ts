const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** Text as it stands in a page, or in an attribute between double quotes. */
export const escaped = (text: string) => text.replace(/[&<>"]/g, character => ENTITIES[character] ?? '')
