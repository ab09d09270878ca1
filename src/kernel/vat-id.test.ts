import { expect, test } from 'vitest'
import { normalizeVatId } from './vat-id.ts'

test.each([
  ['SE', 'SE556188840401', 'SE556188840401'],
  ['SE', '5561888404-01', 'SE556188840401'],
  ['DE', 'de 136.695.976', 'DE136695976'],
  ['GR', 'EL 094259216', 'EL094259216'],
  ['GR', 'GR094259216', 'EL094259216'],
  ['GR', '094259216', 'EL094259216'],
  ['CH', 'CHE-116.281.710 MWST', 'CHE116281710MWST'],
  ['NL', 'NL004495445B01', 'NL004495445B01'],
  ['AT', 'ATU13585627', 'ATU13585627'],
  ['BE', 'BE0411905847', 'BE0411905847'],
  ['BE', 'BE 1003.461.931', 'BE1003461931'],
  ['GB', 'GB 980 7806 84', 'GB980780684'],
  ['GB', 'XI 980 7806 84', 'XI980780684'],
  ['FR', 'FR83404833048', 'FR83404833048'],
  ['ES', 'ESA13585625', 'ESA13585625'],
  ['IT', 'IT00743110157', 'IT00743110157'],
  ['IE', 'IE6433435F', 'IE6433435F'],
  ['NO', 'NO 974760673 MVA', 'NO974760673MVA'],
  ['US', '12-3456789', '123456789'],
  ['US', '04-0123456', '040123456'],
  ['JP', 'T1234567890123', 'T1234567890123'],
  ['US', 'DE136695976', 'DE136695976']
])('in the country %s, the VAT id %s is normalized to %s', (country, text, vatId) => {
  expect(normalizeVatId(text, country)).toBe(vatId)
})

test.each([
  ['SE', 'SE556188840501'],
  ['DE', 'DE136695977'],
  ['DE', '136695977'],
  ['GR', 'EL094259217'],
  ['CH', 'CHE116281711'],
  ['NL', 'NL004495446B01'],
  ['AT', 'ATU13585628'],
  ['BE', 'BE0411905848'],
  ['GB', 'GB980780685'],
  ['FR', 'FR84404833048'],
  ['IT', 'IT00743110158'],
  ['US', 'DE136695977']
])('in the country %s, %s is not a valid VAT id', (country, text) => {
  expect(normalizeVatId(text, country)).toBeNull()
})
