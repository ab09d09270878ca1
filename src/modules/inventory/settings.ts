import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const inventorySettings = settingsSection('Stock.', {
  queue_max: integerSetting(
    'Maximum number of stock changes that wait in a process. Further ones are rejected with 503.',
    20_000,
    1,
    200_000
  ),
  movement_retention_years: integerSetting(
    'Full calendar years (UTC) after which stock movements are summed to a balance of their level. Many laws demand ten years where stock movements belong to the books.',
    10,
    1,
    1_000
  )
})
