const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** The most common leaked passwords of twelve or more characters, in lower case. */
export const commonPasswords = words(`
  passwordpassword password123password passwordabc123 mypassword123 mypassword1234 mypasswordis newpassword123
  newpassword1234 changemechangeme changeme123456 defaultpassword temporarypassword secretpassword supersecret123
  supersecretpassword thisismypassword thisisapassword thisispassword yourpassword123 letmeinletmein letmeinplease
  letmeinnow123 welcomewelcome welcometomyworld welcome2welcome adminadminadmin adminadmin123 administrator123
  administrator1 adminpassword adminpass1234 rootpassword rootrootroot testtesttest testpassword testpassword1
  testingtesting testing123testing useruseruser userpassword guestpassword demopassword demodemodemo
  iloveyouiloveyou iloveyousomuch iloveyouforever iloveyou4ever iloveyoubaby iloveyoubabe iloveyoumore iloveyou12345
  iloveyou123456 iloveyou14344 iloveyou2much iloveyoulord iloveyoumom iloveyoumommy iloveyousomuch1 iloveyoujesus
  ilovemyself123 ilovemyfamily ilovemymom123 ilovemykids3 ilovemydaughter ilovemyhusband ilovemywife1 ilovemybaby1
  ilovechocolate ilovemusic123 ilovefootball ilovesoccer1 ilovedancing ilovejesus123 ilovegod1234 jesuslovesme
  jesusislord1 jesusismylord jesuschrist1 jesussaves123 godisgood123 godislove123 godblessme12 godblessyou1
  trustnoone123 trustno1trustno1 neverforgetyou forgetmenot12 forgetmenow1 dontforgetme iforgotmypassword
  ihatepasswords idontknow123 idontknowwhat idontremember whatthehell1 whateverwhatever nothingtosee1
  correcthorsebatterystaple correct-horse-battery-staple correct horse battery staple correcthorsebattery
  troubadorandthree tr0ub4dor&3tr0ub4dor&3 opensesame123 opensesameopen
  qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789 qwerty654321 qwertyqwerty qwertyqwerty1 qwertyuiop123
  qwertyuiop1234 qwertyuiop12 qwertyuiopasdf qwertyuiopasdfghjkl qwertyasdfgh qwertyasdfzxcv qwerasdfzxcv
  qweasdzxc123 qweasdzxcqwe qweqweqweqwe asdfghjkl123 asdfghjkl1234 asdfasdfasdf asdasdasdasd zxcvbnm12345
  zxcvbnm123456 zxczxczxczxc azertyuiop123 qwertzuiop123 qazwsxedcrfv qazwsxedc123 qazqazqazqaz 1qaz2wsx3edc
  1qaz2wsx3edc4rfv 1qazxsw23edc 1qaz!qaz1qaz 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r1q2w3e4r
  q1w2e3r4t5y6 q1w2e3r4t5y6u7 zaq12wsxcde3 zaq1xsw2cde3 !qaz2wsx#edc 1234qwerasdf 1234qwerasdfzxcv 123qweasdzxc
  123qwe123qwe 123qwe456rty 123abc456def a1b2c3d4e5f6 a1b2c3d4e5f6g7 abcd1234abcd abcd1234efgh abc123abc123
  abcdef123456 abcdefg12345 abcdefghijkl abcdefghijklmnop abcabc123123 aaa111bbb222 aaaaaa111111 aabbccddeeff
  123456789012 1234567890123 123456789abc 123456789abcd 123456789qwerty 123456abcdef 123456qwerty 123456asdfgh
  1234567890qw 1234567890abc 1234512345123 123123123123 123321123321 123654789123 112233445566 11223344556677
  102030405060 010203040506 111222333444 111111222222 121212121212 131313131313 147258369147 147258369000
  159357159357 159753159753 741852963741 789456123789 987654321000 987654321012 998877665544 000000000000
  qwe123qwe123 asd123asd123 zxc123zxc123 password1password password!password p@ssw0rdp@ssw0rd p@ssw0rd1234
  p@ssword1234 p@ssw0rd123456 passw0rd1234 passw0rd12345 passw0rdpassw0rd pa55word1234 pa55wordpa55word
  p4ssw0rd1234 pass1234pass pass123pass123 pass1234word passpasspass passphrase12 mypassphrase
  superman1234 supermansuperman batmanbatman spiderman1234 spiderman123 starwars1234 starwarsstarwars
  maytheforcebewithyou startrek1234 pokemonpokemon pokemon12345 minecraft123 minecraft1234 fortnite1234
  playstation1 playstation2 playstation3 playstation4 playstation5 playstation123 manchesterunited manchester123
  manutd123456 liverpoolfc1 liverpool123 liverpool1234 chelseafc123 arsenalarsenal arsenal12345 barcelona123
  barcelona1234 realmadrid123 realmadrid12 juventus1234 footballfootball football1234 football12345 baseball1234
  basketball12 basketball123 basketball1234 snowboarding skateboarding cheerleader1 christopher1 christopher123
  elizabeth123 alexander123 alexandra123 victoria1234 sunshine1234 sunshinesunshine sunshine12345 princess1234
  princess12345 princessprincess butterfly123 butterfly1234 strawberry12 strawberry123 strawberries chocolate123
  chocolate1234 blueberry123 watermelon12 watermelon123 cheesecake12 bubblegum123 marshmallow1 monkeymonkey
  monkey123456 dragondragon dragon123456 shadowshadow shadow123456 mastermaster master123456 hellohellohello
  helloworld123 helloworld12 hello123hello hello1234567 goodmorning1 goodmorning123 happybirthday happybirthday1
  happynewyear merrychristmas christmas123 halloween123 valentine123 november2026 december2026 september2026
  september123 summersummer summer2026summer winterwinter springspring computer1234 computer12345 computercomputer
  internet1234 internet12345 microsoft123 windows12345 facebook1234 facebook12345 google123456 googlegoogle
  youtube12345 instagram123 whatsapp1234 linkedin1234 samsung12345 samsunggalaxy iphone123456 blackberry123
  motherfucker motherfucker1 fuckyoufuckyou fuckyou12345 fuckyou123456 fucktheworld assassinscreed
  onetwothree4 onetwothreefour onetwothree123 oneoneoneone americanidol california12 california123 newyork12345
  newyorkcity1 australia123 southafrica1 philippines1 philippines123 
`)

/** Words that stay easy to guess with digits and signs around them. */
export const commonPasswordWords = words(`
  password passwort passwords pass passw0rd p@ssw0rd p@ssword pa55word motdepasse contraseña contrasena senha parola
  wachtwoord secret topsecret letmein welcome welkom willkommen bienvenue bienvenido admin administrator root superuser
  user username guest test testing tester demo example default changeme temp temporary login qwerty azerty qwertz
  qwertyuiop asdfghjkl zxcvbnm iloveyou sunshine princess football baseball basketball soccer superman batman spiderman
  starwars pokemon dragon monkey shadow master michael jennifer jordan ashley hello helloworld freedom whatever trustno
  computer internet summer winter spring autumn monday friday january february march april may june july august
  september october november december liverpool chelsea arsenal barcelona juventus facebook google linkedin myspace
  shop shopping store customer commerce ecommerce
`)
