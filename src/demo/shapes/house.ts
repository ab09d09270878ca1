import {
  createProductDrawing,
  type ProductDrawing,
  svgEllipse,
  svgPath,
  svgRectangle,
  svgStrokedPath
} from './shape.ts'

export const householdProductDrawings: Readonly<Record<string, ProductDrawing>> = {
  'cafe-au-lait-bowl': createProductDrawing(
    'white',
    [200, 185],
    svgPath('D', 'M165 275h70l10 25h-90z'),
    svgPath('M', 'M80 170h240c0 70-50 115-120 115s-120-45-120-115z'),
    svgEllipse('L', 200, 170, 120, 26),
    svgEllipse('#a8754f', 200, 174, 104, 19)
  ),
  'creme-brulee-torch': createProductDrawing(
    'zinc',
    [180, 130],
    svgPath('#e8843c', 'M96 150c-44 4-58-12-70-14 12-14 34-22 70-18z'),
    svgRectangle('D', 92, 112, 84, 44, 12),
    svgPath('M', 'M160 96h86c16 0 24 10 24 26v158c0 12-8 20-20 20h-60c-12 0-20-8-20-20v-100l-10-24z'),
    svgRectangle('L', 190, 190, 60, 80, 12),
    svgStrokedPath('D', 10, 'M168 186c-16 14-16 34 0 44')
  ),
  'enamel-saucepan': createProductDrawing(
    'cream',
    [150, 200],
    svgStrokedPath('D', 22, 'M270 210h96'),
    svgPath('M', 'M70 190h210v80c0 20-12 30-30 30h-150c-18 0-30-10-30-30z'),
    svgRectangle('D', 60, 180, 230, 18, 9),
    svgPath('L', 'M80 180c10-40 60-50 95-50s85 10 95 50z'),
    svgEllipse('#b98a5a', 175, 118, 16)
  ),
  'puree-mill': createProductDrawing(
    'steel',
    [200, 210],
    svgPath('M', 'M70 190h260l-50 90h-160z'),
    svgEllipse('L', 200, 190, 130, 26),
    svgEllipse('D', 200, 192, 104, 18),
    svgStrokedPath('D', 10, 'M200 188v-78h70'),
    svgEllipse('#b0563a', 276, 98, 18, 24),
    svgStrokedPath('D', 12, 'M130 280l-20 20M270 280l20 20')
  ),
  'linen-tea-towel': createProductDrawing(
    'natural',
    [150, 230],
    svgPath('D', 'M120 100h180v190h-180z'),
    svgPath('M', 'M100 90h180v200c-30 12-60-6-90 4s-60 8-90-2z'),
    svgStrokedPath('L', 6, 'M118 94v196M134 94v198M250 94v200'),
    svgStrokedPath('D', 6, 'M112 92c-8-22 14-30 18-4')
  ),
  'souffle-dish': createProductDrawing(
    'white',
    [150, 240],
    svgPath('#d9a55c', 'M96 180c-4-60 60-84 104-80s108 20 104 80z'),
    svgPath('#c58b42', 'M130 140c30-26 80-30 120-6-40-4-80-4-120 6z'),
    svgPath('M', 'M86 176h228l-14 124h-200z'),
    svgStrokedPath('D', 5, 'M120 200l4 86M152 200l2 86M184 200v86M216 200v86M248 200l-2 86M280 200l-4 86'),
    svgRectangle('L', 80, 168, 240, 20, 10)
  ),
  'paring-knife': createProductDrawing(
    'beech',
    [160, 170],
    svgPath('#c9ced1', 'M60 118c60-16 110 16 152 60l-26 30c-60-20-104-46-126-90z'),
    svgStrokedPath('#aab1b5', 3, 'M72 124c60 30 90 50 120 78'),
    svgPath('M', 'M204 176l-28 32 110 92c20 14 44-16 28-32z'),
    svgEllipse('D', 224, 216, 5),
    svgEllipse('D', 262, 250, 5)
  ),
  'olive-oil-cruet': createProductDrawing(
    'glass',
    [190, 230],
    svgStrokedPath('D', 8, 'M226 120c60 0 60 70 30 110'),
    svgPath('M', 'M176 96h48v60c0 24 46 40 46 94 0 34-20 50-70 50s-70-16-70-50c0-54 46-70 46-94z'),
    svgPath('#b8a436', 'M136 236h128c8 44-14 58-64 58s-72-14-64-58z'),
    svgStrokedPath('L', 8, 'M150 250c2-24 14-34 24-46'),
    svgRectangle('#b98a5a', 180, 72, 40, 28, 6)
  ),
  'jalapeno-oven-mitt': createProductDrawing(
    'green',
    [200, 180],
    svgPath('M', 'M140 260v-110c0-50 30-70 64-70s66 22 66 74v20c10-24 24-40 44-30 18 10 8 40-8 68l-34 48z'),
    svgStrokedPath(
      'D',
      4,
      'M156 230l100-100M150 180l70-70M180 250l90-92M160 130l90 110M220 96l46 60M150 190l60 62'
    ),
    svgRectangle('L', 130, 256, 150, 44, 10)
  ),
  'smorgas-board': createProductDrawing(
    'oak',
    [200, 140],
    svgPath(
      'M',
      'M100 150c0-30 30-40 70-40l10-46c2-18 38-18 40 0l10 46c40 0 70 10 70 40v120c0 24-20 30-40 30h-120c-20 0-40-6-40-30z'
    ),
    svgEllipse('D', 200, 84, 9),
    svgStrokedPath(
      'D',
      4,
      'M130 150c20 50 0 90 6 140M170 140c16 50-2 100 4 150M230 140c-12 60 8 100 0 150M268 150c-12 50 6 90 0 136'
    )
  ),
  'ripple-tumbler': createProductDrawing(
    'clear',
    [200, 230],
    svgPath('M', 'M120 110h160l-20 180c-1 8-8 10-16 10h-88c-8 0-15-2-16-10z'),
    svgPath('D', 'M128 190h144l-11 96c-1 6-8 8-16 8h-90c-8 0-15-2-16-8z'),
    svgStrokedPath(
      'L',
      5,
      'M124 140q20 14 40 0t40 0 40 0 32 0M130 210q18 12 36 0t36 0 36 0 30 0M134 250q18 12 34 0t34 0 34 0 28 0'
    ),
    svgEllipse('L', 200, 110, 80, 12)
  ),
  'linen-napkin': createProductDrawing(
    'ivory',
    [210, 170],
    svgPath('D', 'M90 130l130-40 100 180-150 30z'),
    svgPath('M', 'M90 130l130-40 60 110-140 36z'),
    svgPath('L', 'M90 130l130-40 14 26-132 38z'),
    svgStrokedPath('D', 3, 'M104 142l124-38')
  ),
  'patisserie-stand': createProductDrawing(
    'white',
    [200, 140],
    svgPath('#e3b0a4', 'M150 150c0-50 100-50 100 0z'),
    svgEllipse('#c0433f', 200, 108, 11),
    svgPath('M', 'M186 170h28l8 96h-44z'),
    svgEllipse('M', 200, 288, 62, 13),
    svgEllipse('D', 200, 164, 128, 18),
    svgEllipse('L', 200, 156, 128, 18),
    svgPath('#d8955f', 'M150 156c0-40 100-40 100 0-20 8-80 8-100 0z'),
    svgPath('#f7ead9', 'M150 140c10-44 90-44 100 0-16 18-24-4-36 8s-24-6-36 4-20 0-28-12z')
  ),
  'fika-mug': createProductDrawing(
    'white',
    [180, 180],
    svgPath('M', 'M110 130h164v120c0 34-20 50-50 50h-64c-30 0-50-16-50-50z'),
    svgEllipse('L', 192, 130, 82, 17),
    svgEllipse('#6d4630', 192, 133, 70, 12),
    svgStrokedPath('D', 5, 'M112 230h160M112 250h160')
  ),
  'dinner-candle': createProductDrawing(
    'ivory',
    [200, 110],
    svgPath('#f2b84b', 'M200 30c26 36 20 56 0 56s-26-20 0-56z'),
    svgStrokedPath('#5b4a3a', 4, 'M200 72v24'),
    svgPath('M', 'M186 94h28l6 176h-40z'),
    svgPath('L', 'M186 94h10l-2 176h-14z'),
    svgPath('#b08d4f', 'M150 262h100l-10 24h-80z'),
    svgEllipse('#b08d4f', 200, 290, 70, 11)
  ),
  'carafe-noe': createProductDrawing(
    'glass',
    [190, 220],
    svgPath('M', 'M160 70h80c-6 50-6 60 30 110s20 120-70 120-106-70-70-120 36-60 30-110z'),
    svgPath('#8fb7c9', 'M128 194c40 14 104 14 144 0 24 50 6 98-72 98s-96-48-72-98z'),
    svgStrokedPath('L', 8, 'M138 240c0-30 16-46 28-66'),
    svgEllipse('L', 200, 70, 40, 8)
  )
}
