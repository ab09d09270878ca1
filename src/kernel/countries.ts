/**
 * What an address needs by country. Pinned here, as currencies are. The required fields and the formats of postal
 * codes are from the address data of Google's libaddressinput (CC BY 4.0, read 2026-11). Countries are those of ISO
 * 3166-1, and Kosovo (XK).
 */

export type AddressField = 'line1' | 'city' | 'region' | 'postal_code'

const REQUIRED: readonly [fields: readonly AddressField[], countries: string][] = [
  [
    ['line1', 'city'],
    'AD AF AI AL AM AO AQ AR AW AZ BA BB BD BF BG BH BI BJ BM BN BO BQ BS BT BV BW BY BZ CC CD CF CG CI CK CL CM CU CV ' +
      'CW CX CY DJ DM DO DZ EC EG EH ER ET FJ FO GA GD GE GH GM GN GQ GT GW GY HM HR HT IE IL IR IS JO KE KG KH KI KM ' +
      'KP KW KZ LA LB LC LK LR LS LY MA MC MD ME MG MK ML MM MN MR MS MT MU MV MW MZ NA NE NF NG NI NP NU OM PA PE PH ' +
      'PK PS PY QA RS RW SA SB SC SD SI SL SN SR SS ST SX SY SZ TD TF TG TH TJ TK TL TM TN TO TT TV TZ UG UY UZ VA VC ' +
      'VN VU WS XK YE ZM ZW'
  ],
  [
    ['line1', 'city', 'postal_code'],
    'AT AX BE BL CH CZ DE DK EE FI FK FR GB GF GG GL GP GR GS GU HU IM IO JE LI LT LU LV MF MQ MY NC NL NO NZ PL PM PN ' +
      'PR PT RE RO SE SH SJ SK TC TR UA WF YT ZA'
  ],
  [['line1', 'city', 'region', 'postal_code'], 'AS AU BR CA CN ES FM IN IT KR MH MP MX PF PW RU TW US VI'],
  [['line1', 'city', 'region'], 'CR HN IQ JM KN PG SO SV UM VE'],
  [['line1', 'region'], 'AE CO HK ID KY NR'],
  [['line1', 'region', 'postal_code'], 'JP'],
  [['line1', 'postal_code'], 'SG SM'],
  [['line1'], 'AG GI MO VG']
]

const requiredOf = new Map(
  REQUIRED.flatMap(([fields, codes]) => codes.split(' ').map(code => [code, fields] as const))
)

/** ISO 3166-1, two letters. */
export const countryCodes: readonly string[] = [...requiredOf.keys()].sort()

/** Returns the required fields of an address besides the name; for an unknown country, only `line1`. */
export const requiredAddressFields = (country: string): readonly AddressField[] =>
  requiredOf.get(country) ?? ['line1']

/** Patterns of postal codes in capitals, without spaces and hyphens. */
const POSTAL_CODES: Readonly<Record<string, string>> = {
  '\\d{3}': 'FO GN IS LS MG OM PG',
  '\\d{4}':
    'AF AL AT AU AZ BD BE BG CH CV CY DK ET GE GW HM HT HU LR LU LV MD MK MZ NE NO NZ PH PY SI SJ TN VE ZA',
  '\\d{4,5}': 'CR TZ',
  '\\d{5}':
    'BA BT CU CZ DE DO DZ EE EG EH ES FI FR GR GT HN HR ID IQ IT JO KE KR KW LA LK LT MA MM MN MV MX MY NA NI NP PE PK ' +
    'PL SA SD SE SK SN TH TR UA UY ZM',
  '\\d{5,6}': 'KH RS VN',
  '\\d{6}': 'BY CN CO EC IN KG KZ NG RO RU SG TJ TM UZ',
  '\\d{7}': 'CL JP PT',
  '\\d{8}': 'BR',
  '\\d{10}': 'IR',
  '\\d{3}(?:\\d{2,3})?': 'TW',
  '\\d{3}(?:\\d{2}|[A-Z]{2}\\d{3})': 'MU',
  '\\d{4}(?:\\d{4})?': 'LB',
  '\\d{5}(?:\\d{2})?': 'IL',
  '\\d{5}(?:\\d{4})?': 'US',
  '(?:37)?\\d{4}': 'AM',
  '(?:1[0-2]|[1-9])\\d{2}': 'BH',
  '(?:CP)?[1-3][1-7][0-2]\\d': 'SV',
  '[1-7]\\d{4}': 'XK',
  '[1-9]\\d{3}(?:[A-RT-Z][A-Z]|S[BCE-RT-Z])': 'NL',
  '00[679]\\d{2}(?:\\d{4})?': 'PR',
  '00120': 'VA',
  '008(?:[0-4]\\d|5[01])(?:\\d{4})?': 'VI',
  '22\\d{3}': 'AX',
  '2640': 'AI',
  '2899': 'NF',
  '39\\d{2}': 'GL',
  '4789\\d': 'SM',
  '6798': 'CX',
  '6799': 'CC',
  '8\\d{4}': 'ME',
  '9[78][01]\\d{2}': 'BL GP MF',
  '9[78]2\\d{2}': 'MQ',
  '9[78]3\\d{2}': 'GF',
  '9[78]4\\d{2}': 'RE',
  '9[78]5\\d{2}': 'PM',
  '948[5-9]|949[0-8]': 'LI',
  '96799(?:\\d{4})?': 'AS',
  '96898': 'UM',
  '969(?:[12]\\d|3[12])(?:\\d{4})?': 'GU',
  '969(?:39|40)(?:\\d{4})?': 'PW',
  '9694[1-4](?:\\d{4})?': 'FM',
  '9695[012](?:\\d{4})?': 'MP',
  '969[67]\\d(?:\\d{4})?': 'MH',
  '976\\d{2}': 'YT',
  '980\\d{2}': 'MC',
  '986\\d{2}': 'WF',
  '987\\d{2}': 'PF',
  '988\\d{2}': 'NC',
  '(?:[A-HJ-NP-Z])?\\d{4}(?:[A-Z]{3})?': 'AR',
  '(?:ASCN|STHL)1ZZ': 'SH',
  '[ABCEGHJKLMNPRSTVXY]\\d[ABCEGHJ-NPRSTV-Z]\\d[ABCEGHJ-NPRSTV-Z]\\d': 'CA',
  '[\\dA-Z]{7}': 'IE',
  '[A-Z]{2}[A-Z0-9]{2}': 'BM',
  '[A-Z]{2}\\d{4}': 'BN',
  '[A-Z]{2}\\d{5}': 'SO',
  '[A-Z]{3}\\d{2,4}': 'MT',
  '[HLMS]\\d{3}': 'SZ',
  'AD[1-7]0\\d': 'AD',
  'BB\\d{5}': 'BB',
  BBND1ZZ: 'IO',
  FIQQ1ZZ: 'FK',
  'GIR0AA|[A-Z]{1,2}\\d[\\dA-Z]?\\d[ABD-HJLN-UW-Z]{2}|BFPO\\d{1,4}': 'GB',
  GX111AA: 'GI',
  'GY\\d[\\dA-Z]?\\d[ABD-HJLN-UW-Z]{2}': 'GG',
  'IM\\d[\\dA-Z]?\\d[ABD-HJLN-UW-Z]{2}': 'IM',
  'JE\\d[\\dA-Z]?\\d[ABD-HJLN-UW-Z]{2}': 'JE',
  'KY\\d{5}': 'KY',
  PCRN1ZZ: 'PN',
  SIQQ1ZZ: 'GS',
  TKCA1ZZ: 'TC',
  'VC\\d{4}': 'VC',
  'VG\\d{4}': 'VG'
}

const postalCodePatterns = new Map(
  Object.entries(POSTAL_CODES).flatMap(([pattern, codes]) =>
    codes.split(' ').map(code => [code, new RegExp(`^(?:${pattern})$`)] as const)
  )
)

/** Whether a normalized postal code matches the pattern of its country. Always true for a country without a pattern. */
export const isPostalCode = (country: string, plain: string): boolean =>
  postalCodePatterns.get(country)?.test(plain) ?? true

/**
 * Normalizes a postal code for comparison: capitals, no spaces or hyphens, and no country prefix (`SE-114 55`,
 * `L-1009`).
 */
export function normalizePostalCode(country: string, text: string): string {
  const plain = text.toUpperCase().replace(/[\s-]/g, '')
  if (isPostalCode(country, plain)) return plain
  const bare = plain.slice(plain.startsWith(country) ? country.length : 1)
  return /^[A-Z]+\d/.test(plain) && /^\d/.test(bare) && isPostalCode(country, bare) ? bare : plain
}
