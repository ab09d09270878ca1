import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const catalogSettings = settingsSection('Catalog.', {
  offers_bytes_max: integerSetting(
    'Memory of a process for cached offers of variants, in bytes.',
    134_217_728,
    0,
    8_589_934_592
  ),
  page_cache_seconds: integerSetting(
    'Seconds that product pages and lists are cached. A change invalidates them immediately.',
    60,
    0,
    86_400
  )
})
