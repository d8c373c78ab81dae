// Empty: its presence lets controller.go declare functions whose bodies lie in another package.
