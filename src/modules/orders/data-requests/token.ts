import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'orders.data_request_token'
const TOKEN = /^gdt_([0-9a-f-]{36})\.(.{1,100})$/

/** What the link to a guest proves: an id, and a code that only this shop makes of it. Nothing is stored. */
export const dataRequestToken = (secrets: Secrets, id: string): string =>
  `gdt_${id}.${secrets.mac(PURPOSE, id)}`

/** The id in a token that this shop made; `undefined` for any other text. */
export function dataRequestIn(secrets: Secrets, token: string): string | undefined {
  const [, id = '', proof = ''] = TOKEN.exec(token) ?? []
  return secrets.verify(proof, PURPOSE, id) ? id : undefined
}
