
p
n
sn 
P0Jb