import { createRequire } from 'node:module'
import type { Country } from 'jsvat'

const require = createRequire(import.meta.url)

/** Prefixes of VAT ids that differ from the country code. */
const PREFIXES: Readonly<Record<string, string>> = { CH: 'CHE', GR: 'EL' }
const GREECE = /^GR/
/** Northern Ireland has the prefix XI for trade with the EU. Its numbers have the form of Great Britain's. */
const NORTHERN_IRELAND = /^XI/

/**
 * Normalizes a VAT id: capitals, with the country prefix. Returns null when its form or check digits are invalid. VAT ids of
 * unknown countries are accepted unchecked.
 */
export function normalizeVatId(text: string, country: string): string | null {
  const plain = text.toUpperCase().replace(/[\s./-]/g, '')
  const prefix = PREFIXES[country] ?? country
  const vatId = (/^\D{2}/.test(plain) || !(prefix in checks()) ? plain : prefix + plain).replace(GREECE, 'EL')
  const judged = vatId.replace(NORTHERN_IRELAND, 'GB')
  const check = checks()[judged.startsWith('CHE') ? 'CHE' : judged.slice(0, 2)]
  return check === undefined || check(judged) ? vatId : null
}

let known: Readonly<Record<string, (vatId: string) => boolean>> | undefined

/** Returns the checks by prefix. Loads them on first use, because that takes 20 ms (2026-11). */
function checks() {
  known ??= loadChecks()
  return known
}

function loadChecks() {
  const { brazil: _, checkVAT, countries: _all, ...all } = require('jsvat') as typeof import('jsvat')
  // Belgian VAT numbers can also begin with 1, which the library rejects.
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
