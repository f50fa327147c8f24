from rocport.cli import main

main()
