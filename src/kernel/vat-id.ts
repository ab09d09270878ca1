import { createRequire } from 'node:module'
import type { Country } from 'jsvat'

const require = createRequire(import.meta.url)

/** What stands in front of a VAT id, where that is not the country's code. */
const PREFIXES: Readonly<Record<string, string>> = { CH: 'CHE', GR: 'EL' }
const GREECE = /^GR/
/** Trade with the European Union has numbers of its own there, which are made as those of Great Britain. */
const NORTHERN_IRELAND = /^XI/

/**
 * A VAT id in capitals, with its country in front; `null` when its form or its check digits are wrong. Those of
 * countries that are not known here are taken as they are.
 */
export function readVatId(text: string, country: string): string | null {
  const plain = text.toUpperCase().replace(/[\s./-]/g, '')
  const prefix = PREFIXES[country] ?? country
  const vatId = (/^\D{2}/.test(plain) || !(prefix in checks()) ? plain : prefix + plain).replace(GREECE, 'EL')
  const judged = vatId.replace(NORTHERN_IRELAND, 'GB')
  const check = checks()[judged.startsWith('CHE') ? 'CHE' : judged.slice(0, 2)]
  return check === undefined || check(judged) ? vatId : null
}

let known: Readonly<Record<string, (vatId: string) => boolean>> | undefined

/** By prefix. Loaded with the first VAT id: 20 ms (2026-11). */
function checks() {
  known ??= loadChecks()
  return known
}

function loadChecks() {
  const { brazil: _, checkVAT, countries: _all, ...all } = require('jsvat') as typeof import('jsvat')
  // Belgium gives out numbers that begin with 1, too.
  const belgium: Country = {
    ...all.belgium,
    rules: { ...all.belgium.rules, regex: [/^(BE)([01]?\d{9})$/] },
    calcFn: digits => 97 - (Number(digits.slice(0, -2)) % 97) === Number(digits.slice(-2))
  }
  return Object.fromEntries(
    Object.values({ ...all, belgium }).map(country => {
      const code = country.codes[0] ?? ''
      return [PREFIXES[code] ?? code, (vatId: string) => checkVAT(vatId, [country]).isValid]
    })
  )
}
