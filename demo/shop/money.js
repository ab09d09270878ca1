import { locale } from './texts.js'

// Amounts are integers in the minor unit of ISO 4217, which differs from Intl for some currencies: see docs/money.md.
const NONE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ')
const THREE = 'BHD IQD JOD KWD LYD OMR TND'.split(' ')

export function money(amount, currency) {
  const decimals = NONE.includes(currency) ? 0 : THREE.includes(currency) ? 3 : 2
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits })
  return format.format(amount / 10 ** decimals)
}
