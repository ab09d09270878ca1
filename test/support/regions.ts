/** Countries, the codes of regions of theirs, and other spellings of these. */
export const REGIONS_SPELLED: readonly (readonly [string, string, readonly string[]])[] = [
  // The last ones are as wide as Chinese characters are.
  [
    'US',
    'CA',
    ['ca', ' us-ca ', 'California', 'CALIFORNIA', '\uff23\uff21', '\uff35\uff33\uff0d\uff23\uff21']
  ],
  ['FR', 'IDF', ['\u00cele-de-France', 'ile de france', 'I\u0302LE\u2010DE\u2010FRANCE']],
  ['DE', 'BW', ['Baden-W\u00fcrttemberg', 'BADEN-WURTTEMBERG', 'de-bw']],
  ['JP', '13', ['Tokyo', 'T\u00f4ky\u00f4', '\uff11\uff13']],
  ['AT', '7', ['Tirol']]
]
