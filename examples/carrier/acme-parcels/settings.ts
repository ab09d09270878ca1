import { settings } from 'cartwright'

export const acmeParcelsSettings = settings.settingsSection('Acme Parcels.', {
  url: settings.textSetting('URL of the API of Acme Parcels.', 'https://api.acme-parcels.example'),
  api_key: settings.secretSetting('API key. Without it, Acme Parcels is not offered.')
})
